import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { programCommand } from "../../harness/program.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { PartOptions, Row } from "./row.ts";

const backupsOfRun = 6;

/**
 * backup: creates backups at random moments while five recordings are processed, and kills every other backup before.
 * Uploads are removed as soon as recordings complete. Each backup is restored elsewhere, where every recording must
 * complete with the same result.
 */
export async function backup({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  const random = randomNumbers(seed);
  using folder = temporaryDirectory();
  await using server = new TestServer({ TRANSCRIBE_RETENTION_AUDIO_DAYS: "0" });
  await server.start();
  const client = server.client("backup");
  const long = await makeLongRecording(folder.path);
  const create = async (path: string) => (await client.create(path, { language: "en" })).id;
  const ids = [];
  for (const name of ["jfk.mp3", "sample.wav", "jfk.mp3", "sample.wav"]) ids.push(await create(samplePath(name)));
  ids.push(await create(long));

  const files: string[] = [];
  let kills = 0;
  for (let made = 0; made < backupsOfRun; made++) {
    await Bun.sleep(random() * 3000);
    const file = join(folder.path, `${made}.tar`);
    reportProgress(`backup ${made + 1} of ${backupsOfRun}`);
    if (made % 2 === 1) {
      await killBackup(server, file, 100 + random() * 300);
      kills += 1;
    }
    // A backup that completed before the kill must be equally good.
    if (!existsSync(file)) {
      const { exitCode, stderr } = await server.cli("backup", file);
      if (exitCode !== 0) throw new Error(stderr);
    }
    files.push(file);
  }
  const expected = new Map<string, string>();
  for (const id of ids) {
    if ((await client.waitUntilEnded(id)).status !== "completed")
      throw new Error("a recording failed without any disturbance");
    expected.set(id, JSON.stringify(await client.segments(id)));
  }

  let compared = 0;
  let equal = 0;
  let stray = 0;
  for (const [index, file] of files.entries()) {
    reportProgress(`restore ${index + 1} of ${files.length}`);
    await using other = new TestServer({ TRANSCRIBE_RETENTION_AUDIO_DAYS: "0" });
    const { exitCode, stderr } = await other.cli("restore", file);
    if (exitCode !== 0) throw new Error(stderr);
    await other.start();
    const there = new TestClient(other.baseUrl, client.key);
    for (const id of ids) {
      compared += 1;
      const { status } = await there.waitUntilEnded(id);
      if (status === "completed" && JSON.stringify(await there.segments(id)) === expected.get(id)) equal += 1;
    }
    await other.stop();
    stray += ["work", "incoming", "uploads"].flatMap((name) => readdirSync(join(other.dataDirectory, name))).length;
  }
  const left = readdirSync(folder.path).filter((name) => !name.endsWith(".tar") && !name.endsWith(".wav")).length;
  const over = `${files.length} backups of a busy server, ${kills} killed before`;
  return [
    {
      measured: "restored recordings with the same result",
      value: `${equal} of ${compared}`,
      over,
      target: "all",
      ok: equal === compared,
    },
    { measured: "stray files", value: String(stray + left), over, target: "none", ok: stray + left === 0 },
  ];
}

async function killBackup(server: TestServer, file: string, afterMilliseconds: number): Promise<void> {
  const command = programCommand("backup", file, "--data-dir", server.dataDirectory);
  const child = Bun.spawn([...command], { stdout: "ignore", stderr: "ignore" });
  await Bun.sleep(afterMilliseconds);
  child.kill("SIGKILL");
  await child.exited;
}
