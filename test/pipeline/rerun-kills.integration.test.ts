import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, tables } from "../../src/database/index.ts";
import { finishRemovals, Library } from "../../src/library/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { packSegment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Transcript, Translation } from "../../src/transcripts/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";

setDefaultTimeout(120_000);

/** More steps than the completion of a rerun has. */
const MOST_STEPS = 1000;
/** Most steps write one of the 210 segments in a transaction, of which only a few are tried. */
const EVERY = 11;
const AT_ONCE = 4;

test("a recording has its former transcript or the whole new one, wherever the process that completes its rerun is killed", async () => {
  using parent = temporaryDirectory();
  const script = await scriptBundle(join(import.meta.dir, "complete-and-die.ts"), join(parent.path, "script"));
  const rerun = fill(join(parent.path, "first"));
  const seen = new Set<string>();
  for (let first = 0; first < MOST_STEPS && !seen.has("completed, then new"); first += EVERY * AT_ONCE) {
    const steps = Array.from({ length: AT_ONCE }, (_, index) => first + index * EVERY);
    await Promise.all(
      steps.map(async (step) => {
        const directory = join(parent.path, String(step));
        cpSync(join(parent.path, "first"), directory, { recursive: true });
        const child = Bun.spawn([process.execPath, script, directory, rerun, String(step)], { stderr: "inherit" });
        await child.exited;
        if (child.signalCode === null) expect(child.exitCode).toBe(0);
        seen.add(`${child.signalCode ?? "completed"}, then ${await stateOf(directory, rerun)}`);
      }),
    );
  }
  expect([...seen].sort()).toEqual(["SIGKILL, then former", "SIGKILL, then new", "completed, then new"]);
});

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
