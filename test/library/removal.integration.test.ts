import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, findAccount, readAudit, requireAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { finishRemovals, Library, type Operator, removeAccount } from "../../src/library/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { indexRecording } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";

setDefaultTimeout(120_000);

const operator: Operator = { kind: "operator", actor: "operator" };
/** Steps that are tried at the same time, each in a process. */
const AT_ONCE = 4;
/** More steps than any removal has. */
const MOST_STEPS = 60;

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

describe("a recording that is removed", () => {
  const parent = temporaryDirectory();
  let script: string;
  afterAll(() => parent[Symbol.dispose]());
  beforeAll(async () => {
    // More than a hundred processes run the script. A bundle starts in half the CPU time.
    script = await scriptBundle(join(import.meta.dir, "remove-and-die.ts"), join(parent.path, "script"));
    for (const [way, status] of ways) await fill(join(parent.path, way), way, status);
  });

  test.each(ways)(
    "by %s is gone completely, or there completely, wherever the process is killed",
    async (way, _, action) => {
      const outcomes = new Map<number, string>();
      for (let first = 0; ![...outcomes.values()].includes("completed") && first < MOST_STEPS; first += AT_ONCE) {
        const steps = Array.from({ length: AT_ONCE }, (_, index) => first + index);
        await Promise.all(
          steps.map(async (step) => {
            const directory = join(parent.path, `${way}-${step}`);
            cpSync(join(parent.path, way), directory, { recursive: true });
            const child = Bun.spawn([process.execPath, script, directory, way, String(step)], { stderr: "inherit" });
            await child.exited;
            if (child.signalCode === null) expect(child.exitCode).toBe(0);
            outcomes.set(step, child.signalCode === "SIGKILL" ? "killed" : "completed");
            await expectAllOrNothing(directory, way, action);
          }),
        );
      }
      const found = [...outcomes.values()];
      // The mark, the exports, files, searchable texts, segments and the record.
      expect(found.filter((outcome) => outcome === "killed").length).toBeGreaterThan(8);
      expect(found).toContain("completed");
    },
  );
});

/** Creates a data directory with a recording of `acme`, and one of another account. */
async function fill(path: string, way: string, status: "completed" | "failed" | "processing"): Promise<void> {
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
async function expectAllOrNothing(path: string, way: string, action: string | null): Promise<void> {
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
