import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { writeBackup } from "../../src/backup/index.ts";
import { BackupError, copyDatabase, openDatabase } from "../../src/database/index.ts";
import { NewFile } from "../../src/disk/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";

/** A data directory to which recordings are added, and an attempt to back it up. */
function setUp() {
  const parent = temporaryDirectory();
  const directory = new DataDirectory(join(parent.path, "data"));
  const store = openDatabase(directory.databasePath);
  const recordings = new Recordings(store, Date.now);
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
  const add = () => recordings.create(newRecording(Bun.randomUUIDv7(), accountId, { sizeBytes: 5 })).id;
  const backUp = (copy: typeof copyDatabase) => {
    using target = new NewFile(join(parent.path, "backup.tar"));
    return writeBackup(directory, target, { copy });
  };
  return { directory, recordings, add, backUp, [Symbol.dispose]: () => parent[Symbol.dispose]() };
}

test("a backup copies the database again when a recording finished and its audio was removed meanwhile", () => {
  using made = setUp();
  const { directory, recordings, add, backUp } = made;
  writeFileSync(directory.localAudio.pathOf(add()), "audio");
  let copies = 0;
  const { uploads, database } = backUp((from, to) => {
    const short = copies++ === 0 ? add() : null;
    copyDatabase(from, to);
    if (short !== null) recordings.fail(short, { reason: "no_speech" });
  });
  expect([copies, uploads, database.open]).toEqual([2, { files: 1, bytes: 5 }, 1]);
});

test("a backup misses no audio of a rerun, which uses that of its recording", () => {
  using made = setUp();
  const { directory, recordings, add, backUp } = made;
  const id = add();
  writeFileSync(directory.localAudio.pathOf(id), "audio");
  recordings.claim(id);
  recordings.complete(id, []);
  const request = { speechModel: "whisper-base", pinnedLanguage: null, author: "operator" };
  let copies = 0;
  const { uploads, database } = backUp((from, to) => {
    copies++;
    const rerun = recordings.reruns.create(id, request, () => {})?.id ?? "";
    copyDatabase(from, to);
    recordings.fail(rerun, { reason: "no_speech" });
  });
  expect([copies, uploads, database.open]).toEqual([1, { files: 1, bytes: 5 }, 1]);
});

test("a backup fails and says what to do when every copy of the database lacks an upload", () => {
  using made = setUp();
  const { recordings, add, backUp } = made;
  let copies = 0;
  const attempt = () =>
    backUp((from, to) => {
      copies++;
      const short = add();
      copyDatabase(from, to);
      recordings.fail(short, { reason: "no_speech" });
    });
  expect(attempt).toThrow(BackupError);
  expect(copies).toBe(5);
  expect(attempt).toThrow("run the command again, or stop the server first");
});

test("a backup has no upload of an open recording whose file was lost before", () => {
  using made = setUp();
  const { add, backUp } = made;
  add();
  expect(backUp(copyDatabase).uploads).toEqual({ files: 0, bytes: 0 });
});
