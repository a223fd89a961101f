import { writeFileSync } from "node:fs";
import { newRecording } from "../../harness/new-recording.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";

/**
 * Fills a data directory with queued recordings of one account, each an upload of the given size.
 *
 * Runs in a child process. A closed database stays open until its prepared statements are collected as garbage, and a
 * test process with the file still open makes `transcribe restore` report that another command uses it.
 */
export function fillDataDirectory(root: string, count: number, bytes: number) {
  const child = Bun.spawnSync([process.execPath, "--no-env-file", import.meta.path, root, `${count}`, `${bytes}`]);
  if (child.exitCode !== 0) throw new Error(child.stderr.toString());
  return { directory: new DataDirectory(root), ids: child.stdout.toString().trim().split("\n") };
}

if (import.meta.main) {
  const [root = "", count, bytes] = process.argv.slice(2);
  const sizeBytes = Number(bytes);
  const directory = new DataDirectory(root);
  const store = openDatabase(directory.databasePath);
  const recordings = new Recordings(store, Date.now);
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
  for (let index = 0; index < Number(count); index++) {
    const id = Bun.randomUUIDv7();
    writeFileSync(directory.localAudio.pathOf(id), Buffer.alloc(sizeBytes, `${index}`));
    recordings.create(newRecording(id, accountId, { sizeBytes }));
    console.log(id);
  }
  store.$client.close();
}
