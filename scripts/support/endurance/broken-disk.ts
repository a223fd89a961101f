import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { samplePath } from "../../../test/support/checkout.ts";
import { TestClient } from "../../../test/support/client.ts";
import { TestServer } from "../../../test/support/server.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import type { PartOptions, Row } from "./row.ts";

/**
 * broken-disk: a disk with a file system of its own (ext4 in a file) meets an error in the middle of the work, and the kernel
 * makes it read-only under the server. What is there must be read on; after a check of the disk and a start all must end.
 */
export async function brokenDisk({ say }: PartOptions): Promise<Row[]> {
  using folder = temporaryDirectory();
  const image = join(folder.path, "disk.img");
  await using server = new TestServer({ TRANSCRIBE_STORAGE_RESERVE_BYTES: "8 MiB" });
  const mount = () => run("mount", "-o", "loop,errors=remount-ro", image, server.dataDirectory);
  try {
    run("truncate", "-s", "128M", image);
    run("mkfs.ext4", "-q", "-F", image);
    mount();
  } catch (error) {
    return [{ measured: "broken disk", value: "not run", over: String(error), target: "", ok: false }];
  }
  try {
    const fault = `/sys/fs/ext4/${basename(run("findmnt", "-no", "SOURCE", server.dataDirectory).trim())}/trigger_fs_error`;
    if (!existsSync(fault)) {
      return [
        { measured: "broken disk", value: "not run", over: "this kernel can't be told to fail", target: "", ok: false },
      ];
    }
    mkdirSync(join(server.dataDirectory, "work"), { mode: 0o700 });
    await server.start();
    const client = server.client("broken");
    const { ended, segments } = await client.transcribe(samplePath("sample.wav"));
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await client.create(samplePath("sample.wav"))).id);
    const since = server.log.length;
    await server.until(async () => (await client.get(ids[0] ?? "")).status === "processing");
    say("the disk breaks");
    writeFileSync(fault, "a test of transcribe");
    await server.until(() => server.log.slice(since).some(({ event }) => event === "recording.waits"));
    let unread = 0;
    const paths = [ended.id, ...ids].map((id) => `/transcriptions/${id}`);
    for (const path of ["/transcriptions", `/transcriptions/${ended.id}/segments`, ...paths]) {
      if ((await client.fetch(path)).status !== 200) unread += 1;
    }
    const { status } = await client.send(samplePath("jfk.mp3"));
    await server.killHard();
    // The worker ends a moment after its server, and ffmpeg with it.
    await server.until(() => Bun.spawnSync(["umount", server.dataDirectory]).exitCode === 0);
    Bun.spawnSync(["e2fsck", "-fy", image]);
    mount();
    say("the disk is mended");
    await server.start();
    const again = new TestClient(server.baseUrl, client.key);
    let equal = 0;
    for (const id of ids) {
      const one = await again.waitUntilEnded(id);
      if (one.status === "completed" && Bun.deepEquals(await again.segments(id), segments)) equal += 1;
    }
    await server.stop();
    const integrity = integrityOf(server);
    const over = "ext4 that the kernel made read-only";
    return [
      { measured: "reads", value: `${unread} failed`, over, target: "none", ok: unread === 0 },
      { measured: "a create", value: String(status), over, target: "503", ok: status === 503 },
      {
        measured: "ended as undisturbed",
        value: `${equal} of ${ids.length}`,
        over: "after e2fsck",
        target: "all",
        ok: equal === ids.length,
      },
      { measured: "integrity_check", value: integrity, over: "after e2fsck", target: "ok", ok: integrity === "ok" },
    ];
  } finally {
    Bun.spawnSync(["umount", "-l", server.dataDirectory]);
  }
}

function run(...command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString();
}

function integrityOf(server: TestServer): string {
  using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
  return String(database.query<Record<string, string>, []>("PRAGMA integrity_check").get()?.integrity_check);
}
