import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { DataDirectory, DataPaths, DiskUsage } from "../../src/storage/index.ts";

const id = Bun.randomUUIDv7();

function filled(path: string): DataDirectory {
  const directory = new DataDirectory(path);
  writeFileSync(directory.databasePath, "d".repeat(100));
  writeFileSync(`${directory.databasePath}-wal`, "w".repeat(20));
  writeFileSync(directory.localAudio.pathOf(id), "u".repeat(3000));
  mkdirSync(join(directory.filesOf(id).work, "deep"), { recursive: true });
  writeFileSync(join(directory.filesOf(id).work, "deep/audio.pcm"), "p".repeat(500));
  mkdirSync(directory.filesOf(id).playback.directory);
  writeFileSync(join(directory.filesOf(id).playback.directory, "audio.webm"), "a".repeat(70));
  return directory;
}

test("the disk's figures are those of the data directory", async () => {
  using folder = temporaryDirectory();
  const { freeBytes, sizeBytes, databaseBytes, folders } = await new DiskUsage(filled(folder.path), () => 0).read();
  expect(databaseBytes).toBe(120);
  expect(folders).toEqual({ uploads: 3000, incoming: 0, work: 500, listening: 70, live: 0, models: 0 });
  expect(freeBytes).toBeGreaterThan(0);
  expect(sizeBytes).toBeGreaterThanOrEqual(freeBytes);
});

test("the disk's figures are measured again after five seconds, those of the folders after a minute", async () => {
  using folder = temporaryDirectory();
  let now = 0;
  const directory = filled(folder.path);
  const usage = new DiskUsage(directory, () => now);
  const figures = async () => {
    const { databaseBytes, folders } = await usage.read();
    return [databaseBytes, folders.uploads];
  };
  expect(await figures()).toEqual([120, 3000]);
  writeFileSync(directory.databasePath, "d");
  rmSync(directory.localAudio.pathOf(id));
  expect(await figures()).toEqual([120, 3000]);
  now = 5_000;
  expect(await figures()).toEqual([21, 3000]);
  now = 60_000;
  expect(await figures()).toEqual([21, 0]);
});

test("folders that take long to walk through are measured less often", async () => {
  using folder = temporaryDirectory();
  let now = 0;
  const directory = filled(folder.path);
  const usage = new DiskUsage(directory, () => now);
  const uploads = async () => (await usage.read()).folders.uploads;
  const walk = uploads();
  now = 10_000;
  expect(await walk).toBe(3000);
  rmSync(directory.localAudio.pathOf(id));
  now = 500_000;
  expect(await uploads()).toBe(3000);
  now = 510_000;
  expect(await uploads()).toBe(0);
});

test("a missing data directory is an error, and is measured again later", async () => {
  using folder = temporaryDirectory();
  let now = 0;
  const path = join(folder.path, "data");
  const usage = new DiskUsage(new DataPaths(path), () => now);
  await expect(usage.read()).rejects.toThrow("ENOENT");
  filled(path);
  now = 5_000;
  expect((await usage.read()).databaseBytes).toBe(120);
});
