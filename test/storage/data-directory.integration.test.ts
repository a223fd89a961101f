import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { MigrationError, openDatabase, openDatabaseOf } from "../../src/database/index.ts";
import { DataDirectoryError } from "../../src/storage/data-directory.ts";
import { DataDirectory, DataDirectoryInUseError } from "../../src/storage/index.ts";

const holder = `
import { DataDirectory } from ${JSON.stringify(join(import.meta.dir, "../../src/storage/index.ts"))};
new DataDirectory(process.argv[2] ?? "").lock();
// The lock is held although nothing refers to it.
Bun.gc(true);
await Bun.sleep(20);
Bun.gc(true);
console.log("locked");
setInterval(() => {}, 1000);
`;

describe("the data directory", () => {
  test("is created readable by its owner alone", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "deep/data"));
    expect(statSync(directory.root).mode & 0o777).toBe(0o700);
    expect(statSync(directory.incoming).mode & 0o777).toBe(0o700);
  });

  test("reports why it cannot be created, locked or opened", () => {
    using parent = temporaryDirectory();
    const file = join(parent.path, "file");
    writeFileSync(file, "");
    expect(() => new DataDirectory(join(file, "data"))).toThrow(DataDirectoryError);
    expect(() => new DataDirectory(join(file, "data"))).toThrow("--data-dir");
    const directory = new DataDirectory(join(parent.path, "data"));
    mkdirSync(directory.lockPath);
    expect(() => directory.lock()).toThrow(/can't be used.*--data-dir/);
    mkdirSync(directory.databasePath);
    expect(() => openDatabase(directory.databasePath)).toThrow(MigrationError);
    expect(() => openDatabaseOf(directory)).toThrow("can't be opened");
  });

  test("is locked by a file inside it, never through a link", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    symlinkSync(join(parent.path, "elsewhere"), directory.lockPath);
    expect(() => directory.lock()).toThrow("is a link");
    expect(existsSync(join(parent.path, "elsewhere"))).toBe(false);
  });

  test("is refused to a second server, and free again after the first one was killed", async () => {
    using parent = temporaryDirectory();
    const script = join(parent.path, "holder.ts");
    await Bun.write(script, holder);
    const root = join(parent.path, "data");
    const child = Bun.spawn([process.execPath, script, root], { stdout: "pipe", stderr: "inherit" });
    try {
      await child.stdout.getReader().read();
      const directory = new DataDirectory(root);
      expect(() => directory.lock()).toThrow(DataDirectoryInUseError);
      expect(() => directory.lock()).toThrow("--data-dir");
      child.kill("SIGKILL");
      await child.exited;
      directory.lock()();
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("is cleaned of files that a crash left, and of nothing else", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(parent.path);
    const [open, done, lost, expired] = [1, 2, 3, 4].map(() => Bun.randomUUIDv7()) as [string, string, string, string];
    const files = {
      halfUpload: join(directory.incoming, "half"),
      openUpload: directory.localAudio.pathOf(open),
      doneUpload: directory.localAudio.pathOf(done),
      lostUpload: directory.localAudio.pathOf(lost),
    };
    for (const file of Object.values(files)) writeFileSync(file, "x");
    for (const id of [open, done, lost]) mkdirSync(directory.filesOf(id).work);
    for (const id of [done, lost, expired]) mkdirSync(directory.filesOf(id).playback.directory);
    mkdirSync(directory.filesOf(done).playbackDraft.directory);
    const records = new Map([
      [open, true],
      [done, false],
      [expired, false],
    ]);
    directory.cleanUp((ids) => new Map([...records].filter(([id]) => ids.includes(id))));
    expect(
      Object.entries(files)
        .filter(([, file]) => existsSync(file))
        .map(([name]) => name),
    ).toEqual(["openUpload", "doneUpload"]);
    expect([open, done, lost].filter((id) => existsSync(directory.filesOf(id).work))).toEqual([open]);
    expect(readdirSync(directory.playback)).toEqual([done]);
  });

  const noIds = [
    "../../victim",
    "..",
    "",
    "a/b",
    "01a1fdbb-a5b1-7058-8ea9-0c142185cff2/../x",
    `${Bun.randomUUIDv7()}\0`,
  ];
  test.each(noIds)("refuses the id %j, which would lead to another path", (id) => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    writeFileSync(join(parent.path, "victim"), "");
    const uses = [
      () => directory.localAudio.pathOf(id),
      () => directory.filesOf(id).work,
      () => directory.filesOf(id).playback.directory,
      () => directory.filesOf(id).playbackDraft.directory,
      () => directory.filesOf(id).removeWork(),
      () => directory.removeFiles(id),
      () => directory.filesOf(id).removePlayback(),
    ];
    for (const use of uses) expect(use).toThrow(RangeError);
    expect(readdirSync(parent.path).toSorted()).toEqual(["data", "victim"]);
  });
});
