import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { programCommand } from "../../harness/program.ts";
import { runCli } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { BackupFile, restoreBackup } from "../../src/backup/index.ts";
import { BackupError } from "../../src/database/index.ts";
import { tar } from "../../src/files/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { fillDataDirectory } from "./fill-data-directory.ts";
import { Commands } from "./support.ts";

setDefaultTimeout(60_000);

const anything = Type.Object({}, { additionalProperties: true });

const filled = (parent: string, count: number, bytes: number) => fillDataDirectory(join(parent, "data"), count, bytes);

function restoredFrom(directory: DataDirectory, path: string) {
  using backup = new BackupFile(path);
  return restoreBackup(directory, backup, Date.now());
}

const contentsOf = (directory: DataDirectory) =>
  readdirSync(directory.uploads)
    .toSorted()
    .map((id) => [id, Bun.hash(readFileSync(join(directory.uploads, id)))]);

describe("transcribe backup", () => {
  test("contains the recordings that the database names, and no other file", async () => {
    using parent = temporaryDirectory();
    const { directory, ids } = filled(parent.path, 3, 70_001);
    writeFileSync(join(directory.uploads, "nobodys"), "x");
    const target = join(parent.path, "backup.tar");
    const result = await new Commands(directory.root, runCli).json(anything, "backup", target);
    expect(result).toMatchObject({ file: target, recordings: 3, open: 3, uploads: { files: 3, bytes: 210_003 } });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const listed = Bun.spawnSync(["tar", "tf", target]).stdout.toString().trim().split("\n");
    expect(listed).toEqual(["transcribe.db", ...ids.map((id) => `uploads/${id}`), "manifest.json"]);
    const restored = new DataDirectory(join(parent.path, "restored"));
    await new Commands(restored.root, runCli).json(anything, "restore", target);
    expect(contentsOf(restored).map(([id]) => id)).toEqual(ids.toSorted());
    expect(contentsOf(restored)).toEqual(contentsOf(directory).filter(([id]) => id !== "nobodys"));
    expect(readdirSync(restored.incoming)).toEqual([]);
  });

  test("omits playback copies, and a restore removes those of the replaced recordings", async () => {
    using parent = temporaryDirectory();
    const { directory, ids } = filled(parent.path, 2, 5000);
    for (const id of ids) mkdirSync(directory.filesOf(id).playback.directory);
    writeFileSync(join(directory.filesOf(ids[0] ?? "").playback.directory, "audio.webm"), "sound");
    mkdirSync(directory.filesOf(ids[1] ?? "").playbackDraft.directory);
    const target = join(parent.path, "backup.tar");
    const commands = new Commands(directory.root, runCli);
    await commands.json(anything, "backup", target);
    expect(Bun.spawnSync(["tar", "tf", target]).stdout.toString()).not.toContain("listening");
    await commands.json(anything, "restore", "--replace", target);
    expect([readdirSync(directory.playback), contentsOf(directory).length]).toEqual([[], 2]);
  });

  test("leaves no incomplete file under its name when it is killed at any moment", async () => {
    using parent = temporaryDirectory();
    const { directory } = filled(parent.path, 4, 40_000_000);
    const target = join(parent.path, "backup.tar");
    for (const delay of [150, 220, 300, 400]) {
      const child = Bun.spawn([...programCommand("backup", target, "--data-dir", directory.root)], {
        stdout: "ignore",
        stderr: "ignore",
      });
      await Bun.sleep(delay);
      child.kill("SIGKILL");
      await child.exited;
      if (!existsSync(target)) continue;
      const killed = new DataDirectory(join(parent.path, `killed-${delay}`));
      expect(restoredFrom(killed, target).uploads).toBe(4);
      rmSync(target);
    }
    await new Commands(directory.root, runCli).json(anything, "backup", target);
    const restored = new DataDirectory(join(parent.path, "restored"));
    expect(restoredFrom(restored, target).uploads).toBe(4);
    expect(readdirSync(parent.path).filter((name) => name.startsWith("backup"))).toEqual(["backup.tar"]);
  });

  test.skipIf(!canMount)("reports a full disk and leaves nothing there", async () => {
    using parent = temporaryDirectory();
    const { directory } = filled(parent.path, 3, 1_000_000);
    const full = join(parent.path, "full");
    mkdirSync(full);
    using _disk = new SmallDisk(full, "size=2m");
    const why = await new Commands(directory.root, runCli).refusal("backup", join(full, "backup.tar"));
    expect(why).toContain("the disk is full");
    expect(readdirSync(full)).toEqual([]);
  });
});

describe("transcribe restore", () => {
  test("refuses a data directory that is not empty without --replace, and changes nothing there", async () => {
    using parent = temporaryDirectory();
    const { directory } = filled(parent.path, 2, 1000);
    const target = join(parent.path, "backup.tar");
    await new Commands(directory.root, runCli).json(anything, "backup", target);
    const places: [string, (root: string) => void][] = [
      ["transcribe.db", (root) => writeFileSync(join(root, "transcribe.db"), "mine")],
      ["uploads", (root) => mkdirSync(join(root, "uploads/x"), { recursive: true })],
      ["holiday.jpg", (root) => writeFileSync(join(root, "holiday.jpg"), "mine")],
    ];
    for (const [name, make] of places) {
      const root = join(parent.path, `with-${name}`);
      mkdirSync(root, { mode: 0o700 });
      make(root);
      const before = readdirSync(root, { recursive: true });
      expect(await new Commands(root, runCli).refusal("restore", target)).toContain(`is not empty: it has ${name}`);
      expect(readdirSync(root, { recursive: true })).toEqual(before);
    }
    // Closes the database that this process opened: it must not be in use.
    Bun.gc(true);
    const replaced = await new Commands(directory.root, runCli).json(anything, "restore", "--replace", target);
    expect(replaced).toMatchObject({ uploads: 2, replaced: expect.stringContaining("/backups/replaced-") });
  });

  test("refuses a backup whose database names files outside, and changes nothing", async () => {
    using parent = temporaryDirectory();
    const { directory } = filled(parent.path, 1, 3000);
    const tampered = filled(join(parent.path, "tampered"), 1, 3000);
    const theirs = new Database(tampered.directory.databasePath);
    theirs.run("UPDATE recordings SET id = '../../victim', size_bytes = NULL");
    theirs.close(true);
    const target = join(parent.path, "backup.tar");
    await new Commands(tampered.directory.root, runCli).json(anything, "backup", target);
    mkdirSync(join(parent.path, "victim"));
    const before = contentsOf(directory);
    const database = readFileSync(directory.databasePath);
    const why = await new Commands(directory.root, runCli).refusal("restore", "--replace", target);
    expect(why).toContain("the backup has a recordings.id that transcribe does not write");
    expect([contentsOf(directory), existsSync(join(parent.path, "victim"))]).toEqual([before, true]);
    expect(readFileSync(directory.databasePath).equals(database)).toBe(true);
    expect([readdirSync(directory.incoming), existsSync(join(directory.root, "backups"))]).toEqual([[], false]);
  });

  let archive: Buffer;
  beforeAll(async () => {
    using parent = temporaryDirectory();
    const { directory } = filled(parent.path, 2, 3000);
    const target = join(parent.path, "backup.tar");
    await new Commands(directory.root, runCli).json(anything, "backup", target);
    archive = readFileSync(target);
  });

  const harms: [string, (bytes: Buffer) => Uint8Array][] = [
    ["was cut off in a recording", (bytes) => bytes.subarray(0, bytes.length - 4000)],
    ["was cut off between two files", (bytes) => bytes.subarray(0, bytes.indexOf("uploads/") + 0)],
    ["has a flipped bit in a recording", (bytes) => flipped(bytes, bytes.lastIndexOf("1".repeat(100)))],
    ["has a flipped bit in its manifest", (bytes) => flipped(bytes, bytes.lastIndexOf('"sha256": "') + 12)],
    ["has a file that leads outside", (bytes) => renamed(bytes, "uploads/../../../../tmp/transcribe-outside")],
    ["has a file of another kind", (bytes) => renamed(bytes, "state/server.json")],
    ["has a link in the place of a recording", (bytes) => linked(bytes)],
    ["has a recording twice", (bytes) => doubled(bytes)],
    [
      "is another's archive",
      () => Buffer.concat([tar.header({ name: "holiday.jpg", sizeBytes: 0 }), Buffer.alloc(1024)]),
    ],
    ["is empty", () => Buffer.alloc(0)],
  ];
  test.each(harms)("refuses a backup that %s, and changes nothing", (_, harm) => {
    using parent = temporaryDirectory();
    const target = join(parent.path, "backup.tar");
    writeFileSync(target, harm(archive));
    const restored = new DataDirectory(join(parent.path, "restored"));
    expect(() => restoredFrom(restored, target)).toThrow(BackupError);
    expect(readdirSync(restored.root, { recursive: true }).toSorted()).toEqual([
      "incoming",
      "listening",
      "live",
      "state",
      "uploads",
      "work",
    ]);
    expect(existsSync("/tmp/transcribe-outside")).toBe(false);
  });
});

function flipped(bytes: Buffer, at: number): Uint8Array {
  const harmed = Buffer.from(bytes);
  harmed[at] = (harmed[at] ?? 0) ^ 1;
  return harmed;
}

/** Returns the archive with its last recording under another name, and a header with a correct checksum. */
function renamed(bytes: Buffer, name: string): Uint8Array {
  const harmed = Buffer.from(bytes);
  harmed.set(tar.header({ name, sizeBytes: 3000 }), lastUpload(bytes));
  return harmed;
}

/** Returns the offset of the last recording's header. */
function lastUpload(bytes: Buffer): number {
  return bytes.lastIndexOf("uploads/", bytes.lastIndexOf("manifest.json", bytes.indexOf('"format"')));
}

/** Returns the archive with its last recording as a symbolic link, and a header with a correct checksum. */
function linked(bytes: Buffer): Uint8Array {
  const at = lastUpload(bytes);
  const header = Buffer.from(bytes.subarray(at, at + 512));
  header.write("2", 156);
  header.write("/etc/shadow", 157);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const harmed = Buffer.from(bytes);
  harmed.set(header, at);
  return harmed;
}

function doubled(bytes: Buffer): Uint8Array {
  const from = lastUpload(bytes);
  const to = bytes.lastIndexOf("manifest.json", bytes.indexOf('"format"'));
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from, to), bytes.subarray(to)]);
}
