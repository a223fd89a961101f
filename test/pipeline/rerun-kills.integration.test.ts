import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, tables } from "../../src/database/index.ts";
import { finishRemovals, Library } from "../../src/library/index.ts";
import { complete } from "../../src/pipeline/complete.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { packSegment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Transcript, Translation } from "../../src/transcripts/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { CopiesAtSteps } from "../support/copies-at-steps.ts";

setDefaultTimeout(120_000);

/** Most steps write one of the 210 segments in a transaction, of which only a few are tried. */
const EVERY = 11;

test("a recording has its former transcript or the whole new one, wherever the process that completes its rerun is killed", async () => {
  using parent = temporaryDirectory();
  const directory = join(parent.path, "data");
  const rerun = fill(directory);
  using copies = await completeRerun(directory, rerun);
  const seen = new Set<string>();
  for (const path of copies.paths) seen.add(await stateOf(path, rerun));
  expect([...seen].sort()).toEqual(["former", "new"]);
  expect(await stateOf(directory, rerun)).toBe("new");
});

/** Completes the rerun. @returns copies of the data directory from before its steps */
async function completeRerun(path: string, rerun: string): Promise<CopiesAtSteps> {
  const store = openDatabase(new DataDirectory(path).databasePath);
  const recordings = new Recordings(store, Date.now);
  const segments = Array.from({ length: 210 }, (_, index) =>
    packSegment({ index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: "new", words: [] }),
  );
  const voices = [{ speaker: 0, seconds: 20, embedding: new Float32Array([1, 0]) }];
  const copies = new CopiesAtSteps(path, { every: EVERY });
  await complete(recordings, rerun, { segments, translation: segments, voices }, new AbortController().signal);
  await recordings.rows.removeDeleted([rerun]);
  copies.end();
  store.$client.close();
  return copies;
}

/** Creates a data directory with a completed recording whose rerun is processing. @returns the id of the rerun */
function fill(path: string): string {
  const directory = new DataDirectory(path);
  const store = openDatabase(directory.databasePath);
  const recordings = new Recordings(store, Date.now);
  const account = createAccount(store, "acme", { actor: "operator", now: Date.now() });
  store.update(tables.accounts).set({ voices: true }).run();
  const { id } = recordings.create({ ...newRecording(Bun.randomUUIDv7(), account.id), isTranslated: true });
  writeFileSync(directory.localAudio.pathOf(id), "audio");
  recordings.claim(id);
  const old = { index: 0, startSeconds: 0, endSeconds: 9, speaker: 0, text: "old", words: [] };
  recordings.rows.addTranslation(id, [packSegment(old)]);
  recordings.complete(id, [old]);
  const choice = { speechModel: "whisper-base", pinnedLanguage: null, author: "operator" };
  const rerun = recordings.reruns.create(id, choice, () => {})?.id ?? "";
  recordings.claim(rerun);
  store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  store.$client.close();
  return rerun;
}

/** Starts again as a server does, and returns which transcript the recording has, after checks of all that belongs to it. */
async function stateOf(path: string, rerun: string): Promise<"former" | "new"> {
  const dataDirectory = new DataDirectory(path);
  const store = openDatabase(dataDirectory.databasePath);
  const recordings = new Recordings(store, Date.now);
  const services = { store, recordings, dataDirectory, usage: new Usage(store), now: Date.now };
  await finishRemovals(services);
  await new Library(services).transient.withdrawLeft(false);
  const [recording] = recordings.list({}, 10);
  if (recording === undefined) throw new Error("the recording is gone");
  const transcript = new Transcript(store, recording);
  const texts = [...transcript.allSegments()].map(({ text }) => text);
  const isNew = transcript.revision === 1;
  const translated = [...new Translation(store, recording).allSegments()].map(({ text }) => text);
  expect(translated).toEqual(texts);
  expect(texts).toEqual(isNew ? Array.from({ length: 210 }, () => "new") : ["old"]);
  expect(recording.status).toBe("completed");
  expect(recordings.reruns.open().map(({ id }) => id)).toEqual(isNew ? [] : [rerun]);
  const rows = store.select().from(tables.recordings).all().length;
  const voices = store
    .select()
    .from(tables.speakerVoices)
    .all()
    .map(({ recordingId }) => recordingId);
  expect([rows, voices]).toEqual(isNew ? [1, [recording.id]] : [2, []]);
  expect(await dataDirectory.audio.list()).toEqual([recording.id]);
  store.$client.close();
  return isNew ? "new" : "former";
}
