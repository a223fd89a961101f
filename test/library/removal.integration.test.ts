import { describe, expect, mock, setDefaultTimeout, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, findAccount, readAudit, requireAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { applyRetention, finishRemovals, Library, type Operator, removeAccount } from "../../src/library/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { indexRecording } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { DataDirectory, RecordingFiles } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { CopiesAtSteps } from "../support/copies-at-steps.ts";

setDefaultTimeout(120_000);

const operator: Operator = { kind: "operator", actor: "operator" };
/** The ways in which a recording is removed, and whether an operator's action is in the audit log. */
const ways = [
  ["application", "completed", null],
  ["operator", "failed", "recordings.delete"],
  ["retention", "completed", null],
  ["withdrawal", "processing", null],
  ["account", "processing", "accounts.delete"],
  // The recording is processed again.
  ["rerun", "completed", "recordings.delete"],
] as const;
type Way = (typeof ways)[number][0];

describe("a recording that is removed", () => {
  test.each(ways)(
    "by %s is gone completely, or there completely, wherever the process is killed",
    async (way, status, action) => {
      using parent = temporaryDirectory();
      const directory = join(parent.path, way);
      await fill(directory, way, status);
      using copies = await remove(directory, way);
      // The mark, the exports, files, searchable texts, segments and the record.
      expect(copies.paths.length).toBeGreaterThan(8);
      for (const path of [...copies.paths, directory]) await expectAllOrNothing(path, way, action);
    },
  );
});

/** Removes the recording of `acme`. @returns copies of the data directory from before each step of this */
async function remove(path: string, way: Way): Promise<CopiesAtSteps> {
  const dataDirectory = new DataDirectory(path);
  const store = openDatabase(dataDirectory.databasePath);
  const now = Date.now;
  const recordings = new Recordings(store, now);
  const copies = new CopiesAtSteps(path);
  const services = { store, recordings, dataDirectory, usage: new Usage(store), endExports: copies.step, now };
  const library = new Library(services);
  const account = requireAccount(store, "acme");
  const [{ id } = { id: "" }] = recordings
    .list({ accountId: account.id, includesTransient: true }, 2)
    .filter(({ rerunOf }) => rerunOf === null);
  const removals: Readonly<Record<Way, () => Promise<unknown>>> = {
    application: () => library.remove({ kind: "application", account, workspaceId: null }, id),
    operator: () => library.remove(operator, id),
    rerun: () => library.remove(operator, id),
    retention: () => applyRetention(services, { audioDays: 100, completedDays: 1 }, now() + 10 * 86_400_000),
    withdrawal: () => library.transient.withdraw(id),
    account: () => removeAccount(services, operator, account),
  };
  for (const name of ["removeWork", "removePlayback"] as const) {
    const original = RecordingFiles.prototype[name];
    spyOn(RecordingFiles.prototype, name).mockImplementation(function (this: RecordingFiles) {
      copies.step();
      return original.call(this);
    });
  }
  try {
    await removals[way]();
    return copies;
  } finally {
    copies.end();
    mock.restore();
    store.$client.close();
  }
}

/** Creates a data directory with a recording of `acme`, and one of another account. */
async function fill(path: string, way: Way, status: "completed" | "failed" | "processing"): Promise<void> {
  const directory = new DataDirectory(path);
  const store = openDatabase(directory.databasePath);
  const recordings = new Recordings(store, Date.now);
  for (const name of ["other", "acme"]) {
    const { id: accountId } = createAccount(store, name, { actor: "operator", now: Date.now() });
    const isTransient = way === "withdrawal" && name === "acme";
    const { id } = recordings.create({ ...newRecording(newRecordingId(Date.now()), accountId), isTransient });
    const files = directory.filesOf(id);
    writeFileSync(directory.localAudio.pathOf(id), "audio");
    for (const place of [files.work, files.playback.directory]) {
      mkdirSync(place);
      writeFileSync(join(place, "file"), "audio");
    }
    recordings.claim(id);
    if (status === "completed" || name === "other") recordings.complete(id, segments);
    else if (status === "failed") recordings.fail(id, { reason: "no_speech" });
    addLiveSession(store, accountId, id);
    // Retention leaves it alone.
    if (name === "other") recordings.setHold(id, true);
    await indexRecording(store, id, new AbortController().signal);
    if (way === "rerun" && name === "acme") {
      const choice = { speechModel: "whisper-base", pinnedLanguage: null, author: "operator" };
      const rerun = recordings.reruns.create(id, choice, () => {})?.id ?? "";
      recordings.claim(rerun);
      recordings.rows.addSegments(rerun, segments);
      mkdirSync(directory.filesOf(rerun).work);
    }
  }
  store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  store.$client.close();
}

/** Adds the live session that has become a recording. */
function addLiveSession({ $client }: Store, accountId: string, recordingId: string): void {
  const id = Bun.randomUUIDv7();
  const session = [id, accountId, recordingId];
  $client.run("INSERT INTO live_sessions VALUES (?, ?, NULL, ?, 'key', '{}', '{}', 0, 'client', 0, 0)", session);
  for (const { index, text } of segments) {
    const segment = [id, index, id, index, index + 1, text];
    $client.run("INSERT INTO live_segments VALUES (?, ?, ?, ?, ?, NULL, ?, '[]')", segment);
  }
}

const segments = Array.from({ length: 210 }, (_, index): Segment => {
  return { index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: "xylophone", words: [] };
});

/** Starts again as a server does, and repeats what an operator would repeat. */
async function expectAllOrNothing(path: string, way: Way, action: string | null): Promise<void> {
  const directory = new DataDirectory(path);
  const store = openDatabase(directory.databasePath);
  const recordings = new Recordings(store, Date.now);
  const services = { store, recordings, dataDirectory: directory, usage: new Usage(store), now: Date.now };
  const ownsRecordings = (name: string) => {
    const account = findAccount(store, name);
    const all = account === null ? [] : recordings.list({ accountId: account.id, includesTransient: true }, 10);
    return all.filter(({ rerunOf }) => rerunOf === null);
  };
  directory.cleanUp((ids) => recordings.open.areOpen(ids));
  await finishRemovals(services);
  if (way === "withdrawal") await new Library(services).transient.withdrawLeft(false);
  // The keys of the account may be gone.
  if (way === "account" && findAccount(store, "acme") !== null) {
    await removeAccount(services, operator, requireAccount(store, "acme"));
  }
  const [left] = ownsRecordings("acme");
  const count = (sql: string) => store.$client.query<{ n: number }, []>(sql).get()?.n;
  const whole = left === undefined ? 1 : 2;
  const reruns = way === "rerun" && left !== undefined ? 1 : 0;
  const spoken = left?.status === "completed" ? 2 : 1;
  expect({
    recordings: count("SELECT count(*) AS n FROM recordings"),
    segments: count("SELECT count(*) AS n FROM segments"),
    searchable: count("SELECT count(*) AS n FROM searchable_texts WHERE searchable_texts MATCH 'xylophone'"),
    entries: count("SELECT count(*) AS n FROM searchable_recordings"),
    sessions: count("SELECT count(*) AS n FROM live_sessions"),
    liveSegments: count("SELECT count(*) AS n FROM live_segments"),
    audits: readAudit(store, 10).filter((entry) => entry.action === action).length,
  }).toEqual({
    recordings: whole + reruns,
    segments: (spoken + reruns) * segments.length,
    searchable: spoken * segments.length,
    entries: whole,
    sessions: whole,
    liveSegments: whole * segments.length,
    audits: action !== null && left === undefined ? 1 : 0,
  });
  for (const recording of [...ownsRecordings("other"), ...(left === undefined ? [] : [left])]) {
    const { playback } = directory.filesOf(recording.id);
    expect([await directory.audio.has(recording.id), existsSync(playback.directory)]).toEqual([true, true]);
  }
  const names = [directory.uploads, directory.playback].flatMap((folder) => [
    ...new Bun.Glob("*").scanSync({ cwd: folder, onlyFiles: false }),
  ]);
  expect(names.length).toBe(2 * whole);
  store.$client.close();
}
