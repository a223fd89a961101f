import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { changeAccount, createAccount, deleteAccount, requireAccount } from "../../src/accounts/index.ts";
import { tables } from "../../src/database/index.ts";
import { MachineError } from "../../src/disk/index.ts";
import { ExportError, ExportTooLargeError } from "../../src/exports/index.ts";
import { ClosedPlaces } from "../../src/folders/closed-places.ts";
import type { Entries, FileSystem } from "../../src/folders/file-calls.ts";
import { HindranceError } from "../../src/folders/hindrances.ts";
import { FolderError, listFolders } from "../../src/folders/index.ts";
import { OpenDirectory } from "../../src/folders/open-directory.ts";
import { OpenFile } from "../../src/folders/open-file.ts";
import { isRecordingId } from "../../src/storage/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { FolderBench } from "./folder-bench.ts";
import { ownFileSystem } from "./own-file-system.ts";

setDefaultTimeout(60_000);

const operator = { actor: "operator", now: 0 };
const hindranceOf = (error: unknown) => (error instanceof HindranceError ? error.hindrance : error);
const hindered = (bench: FolderBench) => bench.visit().then(() => null, hindranceOf);

describe("a watched folder", () => {
  test("gets the results of its recordings once, and has the files in done", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio one");
    bench.put("Größe\n🙂.wav", "audio two");
    await bench.finish();
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["Größe\n🙂", "talk"]);
    expect(bench.entries()).toEqual(
      ["Größe_🙂.json", "Größe_🙂.srt", "done/Größe\n🙂.wav", "done/talk.mp3", "talk.json", "talk.srt"].sort(),
    );
    expect(bench.read("talk.srt")).toContain("audio one");
    expect(bench.folder).toMatchObject({ done: 2, failed: 0 });
  });

  test("with a translation gets both texts, with the same number, and only the transcript of what was not translated", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("before.mp3", "audio before");
    await bench.finish();
    await bench.add(bench.path, { formats: ["srt"], isTranslated: true });
    bench.auditsReads = true;
    bench.put("before.mp3", "audio before");
    bench.put("talk.mp3", "audio one");
    bench.put("talk.en.srt", "somebody else's");
    await bench.finish();
    expect(bench.entries()).toEqual(
      [
        ...["before.srt", "done/before (2).mp3", "done/before.mp3", "done/talk.mp3"],
        ...["talk (2).en.srt", "talk (2).srt", "talk.en.srt"],
      ].sort(),
    );
    expect(bench.read("talk (2).srt")).not.toContain("translated");
    expect(bench.read("talk (2).en.srt")).toContain("translated audio one");
    const reads = bench.store.select().from(tables.auditLog).all();
    expect(reads.filter(({ action }) => action === "transcripts.export")).toHaveLength(3);
  });

  test("with a translation takes nothing while the speech model does not translate", async () => {
    using bench = await FolderBench.create({ formats: ["txt"], isTranslated: true });
    bench.translationRefusal = "The model whisper-large-v3-turbo does not translate.";
    bench.put("talk.mp3", "audio one");
    expect(await bench.visitSettled()).toMatchObject({ waiting: 1, hindrance: "translation" });
    bench.translationRefusal = null;
    await bench.finish();
    expect(bench.entries()).toEqual(["done/talk.mp3", "talk.en.txt", "talk.txt"]);
  });

  test("is in the audit log with each result that it got, if reads are recorded", async () => {
    using bench = await FolderBench.create();
    bench.auditsReads = true;
    bench.put("talk.mp3", "audio one");
    await bench.finish();
    const entries = bench.store.select().from(tables.auditLog).all();
    const reads = entries.filter(({ action }) => action.startsWith("transcripts."));
    expect(reads.map(({ actor, action, details }) => [actor, action, JSON.parse(details)])).toEqual(
      ["srt", "json"].map((format) => [
        `folder:${bench.folder.id}`,
        "transcripts.export",
        expect.objectContaining({ surface: "folder", format }),
      ]),
    );
    expect(JSON.stringify(reads)).not.toContain("talk");
  });

  test("leaves a file that is still written, and transcribes all of it", async () => {
    using slow = await FolderBench.create();
    for (let part = 1; part <= 5; part++) {
      slow.put("slow.mp3", `audio ${"x".repeat(part)}`);
      await slow.visit();
      slow.time += 14_000;
    }
    expect(slow.recordingNames()).toEqual([]);
    await slow.finish();
    expect(slow.recordingNames()).toEqual(["slow"]);
    expect(slow.read("slow.srt")).toContain("audio xxxxx");
  });

  test("discards the copy of a file that changes while it is copied", async () => {
    using bench = await FolderBench.create();
    bench.put("large.mp3", `audio ${"x".repeat(3_000_000)}`);
    await bench.visit();
    bench.time += 15_000;
    let changes = 0;
    bench.onProgress = () => {
      if (changes++ === 2) bench.put("large.mp3", `audio ${"y".repeat(2_000_000)}`);
    };
    await bench.visit();
    bench.onProgress = () => {};
    expect(bench.recordingNames()).toEqual([]);
    await bench.finish();
    expect(bench.recordings.list({}, 10).map(({ sizeBytes }) => sizeBytes)).toEqual([2_000_006]);
  });

  test("waits for a file that seems to be incomplete, then takes it or explains why it failed", async () => {
    using bench = await FolderBench.create();
    bench.put("reserved.mp3", Buffer.concat([Buffer.from("audio"), Buffer.alloc(8192)]));
    bench.put("letter.mp3", "no recording");
    const incomplete = [
      { name: "letter.mp3", doubt: "unreadable" },
      { name: "reserved.mp3", doubt: "zeros" },
    ] as const;
    expect(await bench.visitSettled()).toEqual({ waiting: 2, incomplete, unread: 0, hindrance: null });
    bench.put("reserved.mp3", "audio complete");
    await bench.visitSettled();
    expect(bench.recordingNames()).toEqual(["reserved"]);
    await bench.finish();
    expect(bench.entries()).toEqual(
      ["done/reserved.mp3", "failed/letter.mp3", "failed/letter.mp3.txt", "reserved.json", "reserved.srt"].sort(),
    );
    expect(bench.read("failed/letter.mp3.txt")).toMatch(/letter\.mp3 was not transcribed[\s\S]*not an audio or video/);
    expect(bench.log.join("")).not.toContain("letter");
  });

  test("ignores hidden and temporary files and transcripts, and counts what it never reads", async () => {
    using bench = await FolderBench.create();
    for (const name of [".talk.mp3", "~$talk.mp3", "talk.mp3.part", "talk.crdownload", "Thumbs.db", "talk.SRT"]) {
      bench.put(name, "audio");
    }
    mkdirSync(join(bench.path, "sub"));
    mkdirSync(join(bench.path, "@eaDir"));
    Bun.spawnSync(["sh", "-c", "printf audio > \"$(printf 'bad\\377.mp3')\""], { cwd: bench.path });
    expect(await bench.visitSettled()).toMatchObject({ waiting: 0, unread: 3 });
    expect(bench.recordingNames()).toEqual([]);
  });

  test("keeps files of others: results and moved files get free names", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    mkdirSync(join(bench.path, "done"));
    bench.put("talk.srt", "by hand");
    bench.put("done/talk.mp3", "an earlier one");
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect(bench.entries()).toEqual(["done/talk (2).mp3", "done/talk.mp3", "talk (2).srt", "talk.srt"].sort());
    expect([bench.read("talk.srt"), bench.read("done/talk.mp3")]).toEqual(["by hand", "an earlier one"]);
  });

  test("writes results to its target", async () => {
    using bench = await FolderBench.create({ target: "out", formats: ["txt", "docx"] });
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect(bench.entries()).toEqual(["done/talk.mp3"]);
    expect(bench.entries(join(bench.root, "out"))).toEqual(["talk.docx", "talk.txt"]);
  });
});

describe("a file in a watched folder", () => {
  test("that is renamed while it is transcribed is followed, and not transcribed again", async () => {
    using bench = await FolderBench.create();
    bench.put("a.mp3", "audio");
    await bench.visitSettled();
    renameSync(join(bench.path, "a.mp3"), join(bench.path, "b.mp3"));
    await bench.visitSettled();
    await bench.complete();
    renameSync(join(bench.path, "b.mp3"), join(bench.path, "c.mp3"));
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["a"]);
    expect(bench.entries()).toEqual(["c.json", "c.srt", "done/c.mp3"]);
  });

  test("that is replaced while it is transcribed is transcribed in both versions", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("talk.mp3", "audio old");
    await bench.visitSettled();
    bench.put("talk.mp3", "audio new version");
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["talk", "talk"]);
    expect(bench.entries()).toEqual(["done/talk.mp3", "talk (2).srt", "talk.srt"]);
    expect(bench.read("talk.srt")).toContain("audio old");
    expect(bench.read("talk (2).srt")).toContain("audio new version");
    expect(bench.read("done/talk.mp3")).toBe("audio new version");
  });

  test("that is replaced in the moment of its move is put back and transcribed", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("talk.mp3", "audio old");
    await bench.visitSettled();
    await bench.complete();
    const { move } = OpenDirectory.prototype;
    using _move = spyOn(OpenDirectory.prototype, "move").mockImplementationOnce(function (
      this: OpenDirectory,
      ...args
    ) {
      bench.put("talk.mp3", "audio of the last moment");
      return move.apply(this, args);
    });
    await bench.visit();
    expect(bench.entries()).toEqual(["talk.mp3", "talk.srt"]);
    await bench.finish();
    expect(bench.entries()).toEqual(["done/talk.mp3", "talk (2).srt", "talk.srt"]);
    expect(bench.read("talk (2).srt")).toContain("last moment");
  });

  test("that is replaced again and again in the moment of its move is never left in done", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("talk.mp3", "audio old");
    await bench.visitSettled();
    await bench.complete();
    const { move } = OpenDirectory.prototype;
    let moves = 0;
    OpenDirectory.prototype.move = function (...args) {
      moves += 1;
      if (moves === 3) OpenDirectory.prototype.move = move;
      // The name to which the second file is moved back is taken in the same moment.
      bench.put("talk.mp3", `audio of moment ${moves}`);
      return move.apply(this, args);
    };
    await bench.visit();
    await bench.finish();
    expect(bench.entries().filter((name) => name.startsWith("done/"))).toHaveLength(2);
    expect(bench.recordingNames().sort()).toEqual(["talk", "talk", "talk (2)"]);
  });

  test("that the server may not read waits, is reported, and delays no other", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    const { openFile } = OpenDirectory.prototype;
    // Root may read every file.
    using spy = spyOn(OpenDirectory.prototype, "openFile").mockImplementation(function (this: OpenDirectory, name) {
      const denied = Object.assign(new Error("permission denied"), { code: "EACCES" });
      return name === "closed.mp3" ? Promise.reject(denied) : openFile.call(this, name);
    });
    bench.put("closed.mp3", "audio closed");
    bench.put("talk.mp3", "audio");
    expect(await bench.visitSettled()).toMatchObject({ waiting: 1, hindrance: "denied" });
    expect(await bench.visit()).toMatchObject({ waiting: 1, hindrance: "denied" });
    expect(bench.recordingNames()).toEqual(["talk"]);
    spy.mockRestore();
    await bench.finish();
    expect(bench.entries()).toEqual(["closed.srt", "done/closed.mp3", "done/talk.mp3", "talk.srt"]);
  });

  test("that can't be moved gets its results once, and is moved when that is possible", async () => {
    using bench = await FolderBench.create({ formats: ["srt", "docx"] });
    using make = spyOn(bench.services.exports, "make");
    const denied = Object.assign(new Error("not permitted"), { code: "EPERM" });
    using move = spyOn(OpenDirectory.prototype, "move").mockImplementation(() => Promise.reject(denied));
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    for (let visit = 0; visit < 3; visit++) expect(await bench.visit()).toMatchObject({ hindrance: "unmovable" });
    expect([make.mock.calls.length, move.mock.calls.length]).toEqual([2, 1]);
    expect(bench.files.open(bench.folder.id)).toMatchObject([{ state: "moving" }]);
    move.mockRestore();
    await bench.finish();
    expect([make.mock.calls.length, bench.entries()]).toEqual([2, ["done/talk.mp3", "talk.docx", "talk.srt"]]);
  });

  test("that can't be read, or is too large for the disk now, delays no other", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    const { diskSpace } = bench.services;
    const reserve: typeof diskSpace.reserve = (bytes, use) => {
      if (bytes > 100) throw new MachineError("NO_ROOM", "the disk is full");
      return diskSpace.reserve(bytes, use);
    };
    bench.services = { ...bench.services, diskSpace: { reserve, capacityBytes: () => 1000 } };
    const { read } = OpenFile.prototype;
    using spy = spyOn(OpenFile.prototype, "read").mockImplementation(async function (this: OpenFile, ...place) {
      const bytes = await read.apply(this, place);
      if (bytes.includes("broken")) throw Object.assign(new Error("input/output error"), { code: "EIO" });
      return bytes;
    });
    bench.put("a.mp3", "audio broken");
    bench.put("b.mp3", `audio ${"x".repeat(200)}`);
    bench.put("c.mp3", `audio ${"x".repeat(2000)}`);
    bench.put("d.mp3", "audio");
    expect(await bench.visitSettled()).toMatchObject({ waiting: 2, hindrance: "server_full" });
    expect(bench.recordingNames()).toEqual(["d"]);
    await bench.visit();
    expect(bench.read("failed/c.mp3.txt")).toContain("larger than the disk of the server");
    spy.mockRestore();
    bench.services = { ...bench.services, diskSpace };
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["d", "a", "b"]);
  });

  test("that is rotated while it is transcribed is followed, and its successor is another recording", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("log.mp3", "audio one");
    await bench.visitSettled();
    renameSync(join(bench.path, "log.mp3"), join(bench.path, "log.1.mp3"));
    bench.put("log.mp3", "audio number two");
    await bench.visitSettled();
    expect(bench.recordingNames()).toEqual(["log", "log"]);
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["log", "log"]);
    expect(bench.entries()).toEqual(["done/log.1.mp3", "done/log.mp3", "log.1.srt", "log.srt"]);
    expect([bench.read("log.1.srt"), bench.read("log.srt")]).toEqual([
      expect.stringContaining("audio one"),
      expect.stringContaining("audio number two"),
    ]);
  });

  test("that is renamed and changes its time at once is recognized by its content", async () => {
    using bench = await FolderBench.create();
    bench.put("a.mp3", "audio");
    await bench.visitSettled();
    renameSync(join(bench.path, "a.mp3"), join(bench.path, "b.mp3"));
    utimesSync(join(bench.path, "b.mp3"), new Date(0), new Date(0));
    await bench.visitSettled();
    await bench.finish();
    expect([bench.recordingNames(), bench.entries()]).toEqual([["a"], ["b.json", "b.srt", "done/b.mp3"]]);
  });

  test("that is renamed and changes its time while its recording is completed is moved, and not transcribed again", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("a.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    renameSync(join(bench.path, "a.mp3"), join(bench.path, "b.mp3"));
    utimesSync(join(bench.path, "b.mp3"), new Date(0), new Date(0));
    await bench.finish();
    expect([bench.recordingNames(), bench.entries()]).toEqual([["a"], ["b.srt", "done/b.mp3"]]);
  });

  test("that is renamed, delivered and removed around a crash gets its results under one name", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    bench.put("a.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    renameSync(join(bench.path, "a.mp3"), join(bench.path, "b.mp3"));
    using crash = spyOn(bench.files, "delivered").mockImplementation(() => {
      throw new Error("the server crashes");
    });
    await expect(bench.visit()).rejects.toThrow("crashes");
    crash.mockRestore();
    rmSync(join(bench.path, "b.mp3"));
    await bench.finish();
    expect(bench.entries()).toEqual(["b.srt"]);
  });

  test("that is gone is searched once for each change of the names", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    rmSync(join(bench.path, "talk.mp3"));
    for (let file = 0; file < 600; file++) bench.put(`new ${file}.mp3`, "");
    using describeAll = spyOn(OpenDirectory.prototype, "describeAll");
    const counts: number[] = [];
    for (let visit = 0; visit < 3; visit++) {
      await bench.visit();
      counts.push(describeAll.mock.calls.reduce((sum, [names]) => sum + names.length, 0));
      describeAll.mockClear();
    }
    expect(counts).toEqual([600, 500, 500]);
  });

  test("gets all its results with the same number", async () => {
    using bench = await FolderBench.create({ formats: ["srt", "json"] });
    bench.put("talk.json", "by hand");
    bench.put("talk (2).srt", "by hand");
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect(bench.entries()).toEqual(
      ["done/talk.mp3", "talk (2).srt", "talk (3).json", "talk (3).srt", "talk.json"].sort(),
    );
  });

  test("that is written twice with the same content is transcribed once", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    utimesSync(join(bench.path, "talk.mp3"), new Date(0), new Date(0));
    await bench.visitSettled();
    await bench.finish();
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["talk"]);
    expect(bench.entries()).toEqual(["done/talk (2).mp3", "done/talk.mp3", "talk.json", "talk.srt"].sort());
    rmSync(join(bench.path, "talk.srt"));
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect([bench.recordingNames(), bench.read("talk.srt").includes("audio")]).toEqual([["talk"], true]);
  });

  test("with the content of another file is a recording of its own", async () => {
    using bench = await FolderBench.create();
    bench.put("a.mp3", "audio");
    bench.put("b.mp3", "audio");
    await bench.finish();
    expect(bench.recordingNames()).toEqual(["a", "b"]);
  });

  test("that was removed after it was taken gets its results nevertheless", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    rmSync(join(bench.path, "talk.mp3"));
    await bench.finish();
    expect(bench.entries()).toEqual(["talk.json", "talk.srt"]);
  });

  test("whose recording is deleted or cancelled fails with the reason, and leaves no row", async () => {
    using bench = await FolderBench.create();
    const viewer = { kind: "operator", actor: "operator" } as const;
    bench.put("a.mp3", "audio a");
    bench.put("b.mp3", "audio b");
    await bench.visitSettled();
    const [b = "", a = ""] = bench.recordings.list({}, 2).map(({ id }) => id);
    await bench.library.cancel(viewer, b);
    await bench.library.cancel(viewer, a);
    await bench.library.remove(viewer, a);
    await bench.finish();
    expect(bench.read("failed/a.mp3.txt")).toContain("was deleted on the server");
    expect(bench.read("failed/b.mp3.txt")).toContain("was cancelled");
    bench.put("c.mp3", "audio c");
    await bench.finish();
    const [c = ""] = bench.recordings.list({}, 1).map(({ id }) => id);
    await bench.library.remove(viewer, c);
    expect(bench.store.$client.query("SELECT name FROM folder_files").all()).toEqual([]);
  });

  test.if(process.getuid?.() === 0)("passes its owner and at most its permissions on to its results", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    chmodSync(bench.path, 0o2750);
    for (const [name, mode] of [["a.mp3", 0o666] as const, ["b.mp3", 0o600] as const]) {
      bench.put(name, `audio ${name}`);
      chmodSync(join(bench.path, name), mode);
      chownSync(join(bench.path, name), 4321, 8765);
    }
    await bench.finish();
    const facts = ["a.srt", "b.srt"].map((name) => {
      const { uid, gid, mode } = statSync(join(bench.path, name));
      return [uid, gid, mode & 0o777];
    });
    expect(facts).toEqual([
      [4321, 8765, 0o640],
      [4321, 8765, 0o600],
    ]);
    expect(statSync(join(bench.path, "done")).mode & 0o777).toBe(0o750);
  });
});

describe("a hostile folder", () => {
  test("of many links leaves turns of the event loop to requests", async () => {
    using bench = await FolderBench.create();
    for (let link = 0; link < 100; link++) symlinkSync("nowhere", join(bench.path, `${link}.mp3`));
    await bench.visit();
    bench.time += 15_000;
    expect(await countTurnsUntilSettled(bench.visit())).toBeGreaterThanOrEqual(100);
    expect(bench.files.open(bench.folder.id)).toHaveLength(100);
  });

  test("of more than 100,000 files reports those that it does not read", async () => {
    using bench = await FolderBench.create();
    const files: FileSystem = {
      async call(name, ...args) {
        const result = await ownFileSystem.call(name, ...args);
        return name === "entries" ? ({ ...(result as Entries), excess: 2 } as typeof result) : result;
      },
    };
    bench.services = { ...bench.services, fileSystemOf: () => files };
    expect(await bench.visit()).toMatchObject({ unread: 2 });
  });

  test("refuses links, hard links and pipes, and writes nothing through a linked done", async () => {
    using bench = await FolderBench.create();
    const secret = join(bench.root, "secret.mp3");
    writeFileSync(secret, "audio secret");
    symlinkSync(secret, join(bench.path, "link.mp3"));
    linkSync(secret, join(bench.path, "hard.mp3"));
    Bun.spawnSync(["mkfifo", join(bench.path, "pipe.mp3")]);
    await bench.finish();
    expect(bench.recordingNames()).toEqual([]);
    const moved = ["hard.mp3", "link.mp3", "pipe.mp3"];
    expect(bench.entries()).toEqual(moved.flatMap((name) => [`failed/${name}`, `failed/${name}.txt`]).sort());
    expect(lstatSync(join(bench.path, "failed/link.mp3")).isSymbolicLink()).toBe(true);
    expect(statSync(join(bench.path, "failed/link.mp3.txt")).mode & 0o022).toBe(0);

    const outside = join(bench.root, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(bench.path, "done"));
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    expect(await hindered(bench)).toBe("linked_folder");
    expect(bench.entries(outside)).toEqual([]);
    rmSync(join(bench.path, "done"));
    await bench.finish();
    expect(existsSync(join(bench.path, "done/talk.mp3"))).toBe(true);
  });

  test("is not used when its path leads elsewhere", async () => {
    using bench = await FolderBench.create();
    const elsewhere = join(bench.root, "elsewhere");
    renameSync(bench.path, elsewhere);
    symlinkSync(elsewhere, bench.path);
    writeFileSync(join(elsewhere, "talk.mp3"), "audio");
    expect([await hindered(bench), bench.recordingNames()]).toEqual(["moved", []]);
  });

  test("touches nothing in a folder without its marker, and continues when the marker is back", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    const away = join(bench.root, "away");
    renameSync(bench.path, away);
    expect(await hindered(bench)).toBe("missing");
    mkdirSync(bench.path);
    bench.put("other.mp3", "audio");
    bench.time += 3_600_000;
    expect(await hindered(bench)).toBe("unmarked");
    expect(bench.entries()).toEqual(["other.mp3"]);
    rmSync(bench.path, { recursive: true });
    renameSync(away, bench.path);
    await bench.finish();
    expect([bench.recordingNames(), bench.entries()]).toEqual([["talk"], ["done/talk.mp3", "talk.json", "talk.srt"]]);
  });
});

describe("limits of the account", () => {
  test("let files wait, leave a share to requests, and fail none", async () => {
    using bench = await FolderBench.create();
    for (let file = 1; file <= 9; file++) bench.put(`${file}.mp3`, `audio ${file}`);
    expect(await bench.visitSettled()).toMatchObject({ waiting: 5, hindrance: "places" });
    expect(bench.recordings.open.counts().queued).toBe(4);
    const place = bench.intake.limits.admitReplay(requireAccount(bench.store, "acme"));
    place.release();
    await bench.complete();
    bench.setLimits({ creates_per_hour: 6 });
    expect(await bench.visit()).toMatchObject({ waiting: 5, hindrance: "creates" });
    bench.time += 3_600_000;
    expect(await bench.visit()).toMatchObject({ waiting: 1, hindrance: "creates" });
    bench.setLimits({ audio_minutes_per_day: 0 });
    await bench.complete();
    expect(await bench.visit()).toMatchObject({ waiting: 1, hindrance: "audio" });
    bench.setLimits({});
    await bench.finish();
    expect([bench.recordingNames().length, bench.folder.failed]).toEqual([9, 0]);
  });

  test("that end a recording postpone its file to the next day", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    const [recording] = bench.recordings.list({}, 1);
    bench.recordings.fail(recording?.id ?? "", { reason: "quota_exceeded" });
    await bench.visit();
    bench.time += 60_000;
    await bench.visit();
    expect(bench.files.open(bench.folder.id)).toMatchObject([{ state: "postponed", attempts: 1 }]);
    expect(bench.recordingNames()).toEqual(["talk"]);
    bench.time += 86_400_000;
    await bench.finish();
    expect([bench.recordingNames(), bench.folder]).toMatchObject([["talk", "talk"], { done: 1, failed: 0 }]);
  });

  test("postpone a file for no longer than a day, although the clock went back by years", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    const time = bench.time;
    bench.time += 10 * 365 * 86_400_000;
    await bench.visitSettled();
    const [recording] = bench.recordings.list({}, 1);
    bench.recordings.fail(recording?.id ?? "", { reason: "quota_exceeded" });
    await bench.visit();
    bench.time = time;
    await bench.finish();
    expect([bench.recordingNames(), bench.folder.done]).toEqual([["talk", "talk"], 1]);
  });

  test("and faults of the machine that end a recording postpone its file, and never fail it", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    for (const hours of [1, 2, 4]) {
      await bench.visitSettled();
      await bench.visitSettled();
      const [recording] = bench.recordings.list({ statuses: ["queued"] }, 1);
      bench.recordings.fail(recording?.id ?? "", { reason: "internal", cause: "ffmpeg_unusable" });
      await bench.visit();
      expect(bench.files.open(bench.folder.id)).toMatchObject([
        { state: "postponed", retryAt: bench.time + hours * 3_600_000 },
      ]);
      bench.time += hours * 3_600_000;
    }
    await bench.finish();
    expect([bench.recordingNames().length, bench.folder]).toMatchObject([4, { done: 1, failed: 0 }]);
  });

  test.each([
    ["the quota", { reason: "quota_exceeded" } as const, "daily minutes of audio"],
    ["the machine", { reason: "internal", cause: "engine_stalled" } as const, "could not be processed"],
  ])("and faults fail a file when %s has ended nine attempts", async (_, failure, reason) => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    for (let attempt = 0; attempt < 9; attempt++) {
      await bench.visitSettled();
      const [recording] = bench.recordings.list({ statuses: ["queued"] }, 1);
      bench.recordings.fail(recording?.id ?? "", failure);
      await bench.visit();
      bench.time += 86_400_000;
    }
    await bench.visit();
    expect(bench.recordingNames()).toHaveLength(9);
    expect(bench.read("failed/talk.mp3.txt")).toContain(reason);
  });

  test("and a restriction that comes during the copy create nothing", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.visit();
    bench.time += 15_000;
    bench.onProgress = () => {
      changeAccount(bench.store, requireAccount(bench.store, "acme"), operator, { standing: "restricted" });
    };
    expect(await bench.visit()).toMatchObject({ waiting: 1, hindrance: "account" });
    expect([bench.recordingNames(), bench.entries()]).toEqual([[], ["talk.mp3"]]);
  });
});

describe("a result that can't be generated", () => {
  const failing = (bench: FolderBench, error: () => Error) => {
    const { exports } = bench.services;
    const make: typeof exports.make = (wanted, signal) =>
      wanted.format === "docx" ? Promise.reject(error()) : exports.make(wanted, signal);
    bench.services = { ...bench.services, exports: { make } };
  };

  test("because it is too large fails its file at once, and leaves the other results", async () => {
    using bench = await FolderBench.create({ formats: ["srt", "docx"] });
    failing(bench, () => new ExportTooLargeError("too large"));
    bench.put("talk.mp3", "audio");
    await bench.finish();
    expect(bench.entries()).toEqual(["failed/talk.mp3", "failed/talk.mp3.txt", "talk.srt"]);
    expect(bench.read("failed/talk.mp3.txt")).toMatch(/not be written in every format[\s\S]*Recording: [0-9a-f-]{36}/);
  });

  test("because its process fails is tried five times more, then fails its file", async () => {
    using bench = await FolderBench.create({ formats: ["docx"] });
    failing(bench, () => new ExportError("crashed"));
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    bench.put("other.mp3", "audio");
    for (let attempt = 0; attempt < 5; attempt++) {
      bench.time += 15_000;
      expect(await bench.visit()).toMatchObject({ hindrance: "unexpected" });
    }
    expect(bench.recordingNames()).toEqual(["talk", "other"]);
    await bench.finish();
    expect(bench.entries()).toContain("failed/talk.mp3.txt");
  });
});

describe.if(canMount)("a full disk", () => {
  test("of the folder delays results and moves, and repeats neither", async () => {
    using bench = await FolderBench.create();
    await bench.remove();
    using disk = new SmallDisk(bench.path, "size=256k");
    await bench.add(bench.path, { formats: ["vtt"] });
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    disk.fill();
    expect(await hindered(bench)).toBe("full");
    expect(await hindered(bench)).toBe("full");
    expect(bench.entries()).toEqual(["ballast", "talk.mp3"]);
    disk.empty();
    await bench.finish();
    expect([bench.recordingNames(), bench.folder.failed]).toEqual([["talk"], 0]);
    expect(bench.entries()).toEqual(["done/talk.mp3", "talk.vtt"]);
  });

  test("of the target, or a read-only one, delays results", async () => {
    using bench = await FolderBench.create({ target: "out" });
    using disk = new SmallDisk(join(bench.root, "out"), "size=64k");
    bench.put("talk.mp3", "audio");
    await bench.visitSettled();
    await bench.complete();
    disk.fill();
    expect(await hindered(bench)).toBe("target_full");
    disk.empty();
    disk.remount("ro");
    expect(await hindered(bench)).toBe("target_denied");
    disk.remount("rw");
    await bench.finish();
    expect(bench.entries(join(bench.root, "out"))).toEqual(["talk.json", "talk.srt"]);
  });

  test("of the server delays files, and leaves no copy behind", async () => {
    using bench = await FolderBench.create();
    using disk = new SmallDisk(bench.dataDirectory.incoming, "size=1m");
    bench.put("talk.mp3", `audio ${"x".repeat(300_000)}`);
    await bench.visit();
    bench.time += 15_000;
    disk.fill();
    expect(await bench.visit()).toMatchObject({ waiting: 1, hindrance: "server_full" });
    disk.empty();
    expect(bench.entries(bench.dataDirectory.incoming)).toEqual([]);
    expect(bench.recordingNames()).toEqual([]);
  });
});

describe("a server without disk space", () => {
  test("to decode a file copies it once, says so, and takes it when there is enough", async () => {
    using bench = await FolderBench.create();
    const { diskSpace } = bench.services;
    let copies = 0;
    const reserve: typeof diskSpace.reserve = (...args) => {
      const reservation = diskSpace.reserve(...args);
      copies += 1;
      return reservation;
    };
    bench.services = { ...bench.services, diskSpace: { reserve, capacityBytes: () => 1e12 } };
    // The file has a second of audio, which takes 32,000 bytes, and 4,000 for its results.
    bench.put("talk.mp3", `audio ${"x".repeat(994)}`);
    bench.freeBytes = 20_000;
    for (let visit = 0; visit < 9; visit++) {
      expect(await bench.visitSettled()).toMatchObject({ waiting: 1, hindrance: "server_full" });
    }
    expect([copies, bench.recordingNames()]).toEqual([1, []]);
    bench.put("talk.mp3", `audio ${"x".repeat(995)}`);
    bench.time += 300_000;
    await bench.visitSettled();
    expect(copies).toBe(2);
    bench.freeBytes = 40_000;
    await bench.finish();
    expect([copies, bench.recordingNames()]).toEqual([3, ["talk"]]);
  });
});

describe("adding a folder", () => {
  test("refuses paths that can't be watched, and says what to do", async () => {
    using bench = await FolderBench.create();
    const { root, dataDirectory } = bench;
    mkdirSync(join(bench.path, "inner"));
    mkdirSync(join(root, "free"));
    symlinkSync(join(root, "free"), join(root, "link"));
    writeFileSync(join(root, "file"), "");
    mkdirSync(join(root, "foreign"));
    writeFileSync(join(root, "foreign/.transcribe-folder"), "another");
    const cases: [string, RegExp][] = [
      ["in", /absolute path/],
      [join(root, "none"), /can't be used: there is no such directory/],
      [join(root, "file"), /not a directory/],
      [join(root, "link"), /leads to .*name that path/],
      [join(bench.path, "inner"), /contain one another/],
      [root, /\/data, the server's data directory, contain one another; choose/],
      [join(dataDirectory.root, "uploads"), /data directory, contain one another/],
      [join(root, "foreign"), /delete the file .*foreign\/\.transcribe-folder/],
    ];
    for (const [path, message] of cases) {
      const error = await bench.add(path).catch((thrown: unknown) => thrown);
      expect([path, error]).toEqual([path, expect.any(FolderError)]);
      expect(String(error)).toMatch(message);
    }
    expect(listFolders(bench.store)).toHaveLength(1);
  });

  test("that holds files which are no recordings needs their number", async () => {
    using bench = await FolderBench.create();
    const path = join(bench.root, "full");
    mkdirSync(join(path, "sub"), { recursive: true });
    const wave = Buffer.from("RIFF\0\0\0\0WAVEfmt ");
    const names = ["passwd", "talk.mp3", "late.wav", "config~", ".hidden", "talk.srt"];
    for (const name of names) writeFileSync(join(path, name), name === "late.wav" ? wave : "text");
    symlinkSync("passwd", join(path, "link"));
    linkSync(join(path, "late.wav"), join(bench.root, "other"));
    const added = (confirmedFiles?: number) =>
      bench.add(path, confirmedFiles === undefined ? {} : { confirmedFiles }).then(() => "added", String);
    // A file with several names is never read.
    expect(await added()).toMatch(
      /full holds 4 files that are no recordings \("late\.wav", "link", "passwd", …\), which .*full\/failed; .*--files 4$/,
    );
    expect(await added(0)).toContain("--files 4");
    expect(await added(3)).toMatch(/holds 4 files that are no recordings, not 3 .*--files 4$/);
    expect(await added(5)).toContain("not 5");
    expect([existsSync(join(path, ".transcribe-folder")), listFolders(bench.store).length]).toEqual([false, 1]);
    rmSync(join(bench.root, "other"));
    expect(await added(4)).toContain("--files 3");
    expect(await added(3)).toBe("added");
    // It is watched already, so nothing is left to confirm.
    expect([await added(), await added(7)]).toEqual(["added", "added"]);
    const audit = bench.store.select().from(tables.auditLog).all();
    expect(audit.filter(({ details }) => details.includes('"files":3'))).toHaveLength(1);
  });

  test("that holds recordings alone needs no number, and refuses one", async () => {
    using bench = await FolderBench.create();
    const path = join(bench.root, "full");
    mkdirSync(path);
    writeFileSync(join(path, "no extension"), "OggS");
    expect(await bench.add(path, { confirmedFiles: 1 }).catch(String)).toContain("repeat this command without --files");
    await bench.add(path, { confirmedFiles: 0 });
  });

  test("keeps every file that can't be transcribed for an hour, then moves it to failed", async () => {
    using bench = new FolderBench();
    createAccount(bench.store, "acme", operator);
    const contents = { "a.mp3": "text", "b.mp3": "", "d.mp3": "audio", "e.mp3": Buffer.alloc(9000), "l.wav": "twice" };
    for (const [name, content] of Object.entries(contents)) bench.put(name, content);
    linkSync(join(bench.path, "l.wav"), join(bench.root, "l.wav"));
    symlinkSync("/etc/passwd", join(bench.path, "link.mp3"));
    const addedAt = bench.time;
    await bench.add(bench.path, { confirmedFiles: 6, addedAt });
    using examine = spyOn(bench.intake, "examine");
    const before = bench.entries();
    const kept = before.filter((name) => name !== "d.mp3");
    while (bench.time - addedAt < 3_600_000 - 5 * 60_000) {
      await bench.visit();
      bench.time += 60_000;
      await bench.complete();
      expect(bench.entries()).toEqual(expect.arrayContaining(kept));
    }
    expect([bench.recordingNames(), bench.folder.done, bench.folder.failed]).toEqual([["d"], 1, 0]);
    const { incomplete } = await bench.visit();
    expect(incomplete.map(({ doubt }) => doubt)).toEqual(kept.map(() => "first_hour"));
    // They are not examined with ffmpeg at each visit.
    expect(examine.mock.calls.length).toBeLessThan(10);
    bench.put("a.mp3", "audio, complete now");
    await bench.visitSettled();
    expect(bench.recordingNames()).toEqual(["d", "a"]);
    bench.time = addedAt + 3_600_000;
    await bench.finish();
    expect(bench.entries().filter((name) => /^failed\/[^.]+\.\w+$/.test(name))).toEqual(
      kept.filter((name) => name !== "a.mp3").map((name) => `failed/${name}`),
    );
  });

  test("that belongs to the system or the program is not visited, whoever added it", async () => {
    using bench = await FolderBench.create({ target: "out" });
    bench.put("talk.mp3", "audio");
    for (const [name, isFile] of [
      ["in", false],
      ["in/../in/talk.mp3", true],
      ["out", false],
    ] as const) {
      const closed = new ClosedPlaces([{ path: join(bench.root, name), what: "the program", isFile }]);
      const { services } = bench;
      bench.services = { ...services, closedPlaces: () => closed };
      expect([name, await hindered(bench)]).toEqual([name, "closed"]);
      bench.time += 600_000;
      expect([name, await hindered(bench)]).toEqual([name, "closed"]);
      bench.services = services;
    }
    expect([bench.entries(), bench.recordingNames()]).toEqual([["talk.mp3"], []]);
    await bench.finish();
    expect(bench.entries()).toEqual(["done/talk.mp3"]);
  });

  test("again changes it and restores its marker; removing it leaves the files", async () => {
    using bench = await FolderBench.create();
    const marker = join(bench.path, ".transcribe-folder");
    rmSync(marker);
    await bench.add(bench.path, { formats: ["vtt"] });
    expect(isRecordingId(readFileSync(marker, "utf8").trim())).toBe(true);
    expect(bench.folder.formats).toEqual(["vtt"]);
    bench.put("talk.mp3", "audio");
    await bench.remove();
    expect([existsSync(marker), bench.entries(), listFolders(bench.store)]).toEqual([false, ["talk.mp3"], []]);
    await expect(bench.remove()).rejects.toThrow("folders list");
  });

  test("is undone when its account is deleted", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    await bench.finish();
    const account = requireAccount(bench.store, "acme");
    await deleteAccount(bench.store, account, operator, async () => {
      const ids = bench.recordings.deleteSomeOf(account.id, 10);
      await bench.recordings.rows.removeDeleted(ids);
    });
    expect(bench.store.$client.query("SELECT 1 FROM folders UNION SELECT 1 FROM folder_files").all()).toEqual([]);
    expect(existsSync(join(bench.path, "done/talk.mp3"))).toBe(true);
  });
});
