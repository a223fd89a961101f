import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { programCommand } from "../../harness/program.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { all, none, type PartOptions, type Row } from "./rows.ts";

const BACKUPS = 6;

/** Uploads are removed as soon as recordings complete. */
const SETTINGS = { TRANSCRIBE_RETENTION_AUDIO_DAYS: "0" } as const;

/**
 * backup: creates backups at random moments while five recordings are processed, and kills every other backup before.
 * Each backup is restored elsewhere, where every recording must complete with the same result.
 */
export async function backup({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  const random = randomNumbers(seed);
  using folder = temporaryDirectory();
  await using server = new TestServer(SETTINGS);
  await server.start();
  const client = server.client("backup");
  const short = ["jfk.mp3", "sample.wav", "jfk.mp3", "sample.wav"].map(samplePath);
  const ids: string[] = [];
  for (const path of [...short, await makeLongRecording(folder.path)]) {
    ids.push((await client.create(path, { language: "en" })).id);
  }

  const files = Array.from({ length: BACKUPS }, (_, number) => join(folder.path, `${number}.tar`));
  for (const [number, file] of files.entries()) {
    await Bun.sleep(random() * 3000);
    reportProgress(`backup ${number + 1} of ${BACKUPS}`);
    if (number % 2 === 1) await killBackup(server, file, 100 + random() * 300);
    // A backup that completed before the kill must be equally good.
    if (!existsSync(file)) await run(server, "backup", file);
  }
  const expected = new Map<string, string>();
  for (const id of ids) {
    const result = await resultOf(client, id);
    if (result === null) throw new Error("a recording failed without any disturbance");
    expected.set(id, result);
  }

  let equal = 0;
  const stray = readdirSync(folder.path).filter((name) => !name.endsWith(".tar") && !name.endsWith(".wav"));
  for (const [number, file] of files.entries()) {
    reportProgress(`restore ${number + 1} of ${BACKUPS}`);
    await using other = new TestServer(SETTINGS);
    await run(other, "restore", file);
    await other.start();
    const there = new TestClient(other.baseUrl, client.key);
    for (const id of ids) if ((await resultOf(there, id)) === expected.get(id)) equal += 1;
    await other.stop();
    stray.push(...["work", "incoming", "uploads"].flatMap((name) => readdirSync(join(other.dataDirectory, name))));
  }
  const over = `${BACKUPS} backups of a busy server, ${Math.floor(BACKUPS / 2)} killed before`;
  return [
    all("restored recordings with the same result", equal, BACKUPS * ids.length, over),
    none("stray files", stray, over),
  ];
}

/** Waits for a recording. @returns its segments as JSON; null when it failed */
async function resultOf(client: TestClient, id: string): Promise<string | null> {
  const { status } = await client.waitUntilEnded(id);
  return status === "completed" ? JSON.stringify(await client.segments(id)) : null;
}

async function run(server: TestServer, ...args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await server.cli(...args);
  if (exitCode !== 0) throw new Error(stderr);
}

async function killBackup(server: TestServer, file: string, afterMilliseconds: number): Promise<void> {
  const command = programCommand("backup", file, "--data-dir", server.dataDirectory);
  const child = Bun.spawn([...command], { stdout: "ignore", stderr: "ignore" });
  await Bun.sleep(afterMilliseconds);
  child.kill("SIGKILL");
  await child.exited;
}
