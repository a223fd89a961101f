import { beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Store, tables } from "../../src/database/index.ts";
import type { Recordings } from "../../src/recordings/index.ts";
import { indexRecording, SearchQuery, searchRecordings } from "../../src/search/index.ts";
import { packSegment, type Segment } from "../../src/segments/index.ts";
import { type Correction, Transcript, Translation } from "../../src/transcripts/index.ts";
import { bytesOf } from "../../src/voices/speaker-voices.ts";
import { Shelf } from "../support/shelf.ts";

let store: Store;
let recordings: Recordings;
let transcript: Transcript;
let id = "";
let now = 0;
let sequence = 0;

function said(text: string, index: number, speaker: number): Segment {
  const word = { text: ` ${text}`, startSeconds: index * 2, endSeconds: index * 2 + 1, probability: 0.9 };
  return { index, startSeconds: index * 2, endSeconds: index * 2 + 1.5, speaker, text, words: [word] };
}

beforeEach(() => {
  now = 1_000_000;
  sequence = 0;
  const shelf = new Shelf(() => now);
  ({ store, recordings } = shelf);
  ({ id } = shelf.create({ pinnedLanguage: "en", prompt: "Zyx" }));
  recordings.claim(id);
  recordings.rows.countRecognized(id, "whisper-base", 3);
  recordings.complete(id, [said("one", 0, 0), said("two", 1, 1), said("three", 2, 0)]);
  const recording = recordings.get(id);
  if (recording === null) throw new Error("the recording is missing");
  transcript = new Transcript(store, recording);
});

const correct = (correction: Correction) => {
  now += 60_000;
  sequence += 1;
  return transcript.correct(correction, {
    author: "anna",
    editor: "page-one",
    seen: transcript.revision,
    sequence,
    now,
  });
};
const shown = () => [...transcript.allSegments()].map(({ speaker, text }) => `${"ABCDEFG"[speaker]}: ${text}`);
const start = (language: string | null = "de") => {
  now += 1000;
  const rerun = recordings.reruns.create(
    id,
    { speechModel: "whisper-small", pinnedLanguage: language, author: "bob" },
    () => {},
  );
  if (rerun === null) throw new Error("the recording is not processed again");
  return rerun.id;
};
const complete = (rerun: string, segments: readonly Segment[]) => {
  now += 1000;
  recordings.claim(rerun);
  recordings.describe(rerun, { language: "de" });
  recordings.rows.countRecognized(rerun, "whisper-small", 2);
  return recordings.complete(rerun, segments);
};
/** Two speakers in the other order: the first one has the times of the former B. */
const other = [said("zwei", 1, 0), said("drei", 2, 1)];
const process = () => complete(start(), other);
const facts = () => {
  const { language, speechModel } = recordings.get(id) ?? {};
  return { language, speechModel, models: recordings.rows.modelsOf(id) };
};
const first = { language: "en", speechModel: "whisper-base", models: [{ model: "whisper-base", parts: 3 }] };
const second = { language: "de", speechModel: "whisper-small", models: [{ model: "whisper-small", parts: 2 }] };

describe("the translation of a recording that is processed again", () => {
  const translated = () => {
    const recording = recordings.get(id);
    if (recording === null) throw new Error("the recording is missing");
    const segments = [...new Translation(store, recording).allSegments()];
    return [recording.isTranslated, segments.map(({ speaker, text }) => `${speaker} ${text}`)];
  };
  const rerun = (isTranslated: boolean | undefined) => {
    const choice = { speechModel: "whisper-small", pinnedLanguage: "de", author: "bob" };
    const own = isTranslated === undefined ? choice : { ...choice, isTranslated };
    return recordings.reruns.create(id, own, () => {})?.id ?? "";
  };

  test("is remade with the transcript, with the speakers of before", () => {
    const created = rerun(true);
    recordings.claim(created);
    recordings.rows.addTranslation(created, [packSegment(said("two", 1, 0)), packSegment(said("three", 2, 1))]);
    expect(translated()).toEqual([false, []]);
    complete(created, other);
    expect(translated()).toEqual([true, ["0 two", "1 three"]]);
    // Their numbers are those of the speakers of before, who appear in another order now.
    const stored = store.select({ speaker: tables.translatedSegments.speaker }).from(tables.translatedSegments).all();
    expect(stored.map(({ speaker }) => speaker)).toEqual([1, 0]);
    const again = rerun(undefined);
    recordings.claim(again);
    recordings.rows.addTranslation(again, [packSegment(said("only", 1, 0))]);
    complete(again, other);
    expect(translated()).toEqual([true, ["0 only"]]);
  });

  test("is removed if the model of the rerun cannot translate", () => {
    const created = rerun(true);
    recordings.claim(created);
    recordings.rows.addTranslation(created, [packSegment(said("two", 1, 0))]);
    complete(created, other);
    const again = rerun(undefined);
    recordings.claim(again);
    recordings.describe(again, { isTranslated: false });
    complete(again, other);
    expect(translated()).toEqual([false, []]);
  });
});

describe("a recording that is processed again", () => {
  test("stays completed with its transcript until the rerun has completed", () => {
    const before = recordings.get(id);
    const rerun = start();
    recordings.claim(rerun);
    recordings.progress(rerun, "transcribe", 40);
    expect(recordings.get(id)).toEqual(before);
    expect(shown()).toEqual(["A: one", "B: two", "A: three"]);
    expect(recordings.reruns.of(id)).toMatchObject({
      status: "processing",
      percent: 40,
      prompt: "Zyx",
      sizeBytes: null,
    });
  });

  test("gets the transcript of the rerun as a revision, with its language and its models", () => {
    const before = recordings.get(id);
    expect(process()).toBe(true);
    expect(shown()).toEqual(["A: zwei", "B: drei"]);
    expect(facts()).toEqual(second);
    expect(transcript.revisions(null, 10)).toMatchObject([
      { number: 1, action: "process", author: "bob", segments: 2 },
    ]);
    const { status, endedAt, createdAt, updatedAt } = recordings.get(id) ?? {};
    expect([status, endedAt, createdAt]).toEqual(["completed", before?.endedAt, before?.createdAt]);
    expect(updatedAt).toBeGreaterThan(before?.updatedAt ?? 0);
    expect([recordings.reruns.of(id), recordings.reruns.open()]).toEqual([null, []]);
    expect(store.select().from(tables.segments).all().length).toBe(5);
  });

  test.each([
    ["as recognized", 0, ["A: one", "B: two", "A: three"], first],
    ["with corrections", 1, ["A: one", "B: 2", "A: three"], first],
    ["as processed again", 2, ["A: zwei", "B: drei"], second],
    ["as corrected after that", 3, ["A: zwei", "B: 3"], second],
  ])("can be restored %s, with its language and its models", async (_, revision, texts, restored) => {
    correct({ action: "text", segment: 1, text: "2" });
    process();
    const last = [...transcript.allSegments()].at(-1)?.id ?? -1;
    correct({ action: "text", segment: last, text: "3" });
    process();
    expect(correct({ action: "restore", revision })).toMatchObject({ number: 5, next: null });
    expect(shown()).toEqual(texts);
    expect(facts()).toEqual(restored);
    expect((await transcript.compareWith(revision)).differences).toEqual([]);
    expect((await transcript.compareWith(revision < 2 ? 2 : 1)).differences.length).toBeGreaterThan(0);
    // The restored transcript can be corrected like any other.
    const segment = [...transcript.allSegments()][0]?.id ?? -1;
    expect(correct({ action: "text", segment, text: "again" })).toMatchObject({ number: 6 });
  });

  test("of 18 hours gets its 20,000 new segments at once, also if many others are replaced", () => {
    const long = Array.from({ length: 20_000 }, (_, index) => said("again", index, 0));
    complete(start(), long);
    const rerun = start();
    const since = performance.now();
    complete(rerun, long);
    // Another count of all segments for each of them would take 20 s.
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(transcript.revision).toBe(2);
  });

  test("may become longer by as much as the new transcript permits, and not the former one", () => {
    const size = () => (JSON.parse(recordings.get(id)?.correctedState ?? "{}") as { size?: number }).size;
    const { text, words } = tables.correctedSegments;
    const stored = () =>
      store
        .select({ bytes: sql<number>`sum(octet_length(${text}) + octet_length(${words}))` })
        .from(tables.correctedSegments)
        .get()?.bytes;
    process();
    expect(size()).toBe(stored() ?? -1);
    correct({ action: "restore", revision: 0 });
    expect(size()).toBe(stored() ?? -1);
  });

  test("has the audio track and the length of its transcript, which return with an earlier one", () => {
    const decoded = () => {
      const { audioTrack, audioTracks, durationSeconds } = recordings.get(id) ?? {};
      return [audioTrack, audioTracks, durationSeconds];
    };
    const before = decoded();
    const rerun = start();
    recordings.claim(rerun);
    recordings.describe(rerun, { audioTrack: 2, audioTracks: 3, durationSeconds: 12 });
    recordings.complete(rerun, other);
    expect(decoded()).toEqual([2, 3, 12]);
    correct({ action: "restore", revision: 0 });
    expect(decoded()).toEqual(before);
  });

  test("can be reverted as long as nobody has corrected the new transcript, and that again", () => {
    process();
    correct({ action: "revert", revision: 1 });
    expect([shown(), facts()]).toEqual([["A: one", "B: two", "A: three"], first]);
    correct({ action: "revert", revision: 2 });
    expect([shown(), facts()]).toEqual([["A: zwei", "B: drei"], second]);
    expect(transcript.revisions(null, 2).map(({ action }) => action)).toEqual(["redo", "revert"]);
    correct({ action: "text", segment: [...transcript.allSegments()][0]?.id ?? -1, text: "2" });
    expect(() => correct({ action: "revert", revision: 1 })).toThrow("changed_meanwhile");
  });

  test("is compared with an earlier transcript in parts that are divided where nobody speaks in either", async () => {
    complete(start(), [said("one", 0, 0), said("zwei", 1, 1), said("drei", 2, 0), said("neu", 4, 0)]);
    const { differences } = await transcript.compareWith(0);
    expect(differences.map(({ before, after }) => [before, after].map((each) => each.map(({ text }) => text)))).toEqual(
      [
        [["two"], ["zwei"]],
        [["three"], ["drei"]],
        [[], ["neu"]],
      ],
    );
  });

  test("refuses a correction of a segment of the former transcript", () => {
    process();
    expect(() => correct({ action: "text", segment: 0, text: "late" })).toThrow("changed_meanwhile");
    expect(transcript.changesAfter(0, { author: "anna", editor: "page-one" })).toMatchObject({
      splices: null,
      authors: ["bob"],
    });
  });

  test("keeps the names of speakers who speak at the same times, and names no other", () => {
    transcript.rename(
      new Map([
        [0, "Anna"],
        [1, "Bob"],
      ]),
    );
    complete(start(), [said("eins", 0, 0), said("zwei", 1, 1), said("neu", 9, 2)]);
    expect([...transcript.speakerNames()]).toEqual([
      [0, "Anna"],
      [1, "Bob"],
    ]);
    expect(transcript.speakerNumbers()).toEqual([0, 1, 2]);
    complete(start(), [said("zwei", 1, 0), said("drei", 2, 1)]);
    expect([...transcript.speakerNames()]).toEqual([[0, "Bob"]]);
  });

  test("gets the voices of the rerun's speakers under the numbers of the same people", () => {
    const { accountId } = recordings.get(id) ?? { accountId: "" };
    const voice = (recordingId: string, speaker: number, seconds: number) =>
      store
        .insert(tables.speakerVoices)
        .values({
          recordingId,
          speaker,
          accountId,
          model: "0".repeat(64),
          seconds,
          embedding: bytesOf(new Float32Array([1])),
        })
        .run();
    voice(id, 0, 10);
    voice(id, 1, 11);
    const rerun = start();
    voice(rerun, 0, 20);
    voice(rerun, 1, 21);
    complete(rerun, other);
    const stored = store.select().from(tables.speakerVoices).all();
    expect(
      stored.filter(({ recordingId }) => recordingId === id).map(({ speaker, seconds }) => [speaker, seconds]),
    ).toEqual([
      [0, 21],
      [1, 20],
    ]);
  });

  test("is found by its new texts, and not by those before, once it is indexed", async () => {
    const found = async (text: string) =>
      (await searchRecordings(store, new SearchQuery(text), "all", {}, null, 10)).found.length;
    const foundOnceIndexed = async () => {
      await indexRecording(store, id, new AbortController().signal);
      return await Promise.all(["three", "drei", "talk"].map(found));
    };
    expect(await foundOnceIndexed()).toEqual([1, 0, 1]);
    process();
    expect(await foundOnceIndexed()).toEqual([0, 1, 1]);
    correct({ action: "restore", revision: 0 });
    expect(await foundOnceIndexed()).toEqual([1, 0, 1]);
  });

  test.each(["no_speech", "quota_exceeded"] as const)(
    "keeps its transcript when the rerun fails as %s, which is shown",
    (reason) => {
      const before = recordings.get(id);
      const rerun = start();
      recordings.claim(rerun);
      recordings.fail(rerun, { reason });
      expect(recordings.get(id)).toEqual(before);
      expect(shown()).toEqual(["A: one", "B: two", "A: three"]);
      expect(recordings.reruns.of(id)).toMatchObject({ status: "failed", failureReason: reason });
      // The next one replaces it.
      process();
      expect(recordings.reruns.of(id)).toBeNull();
      expect(facts()).toEqual(second);
    },
  );

  test("has one rerun at a time, and a rerun has none", () => {
    const rerun = start();
    const choice = { speechModel: "whisper-small", pinnedLanguage: null, author: "bob" };
    expect(recordings.reruns.create(id, choice, () => {})).toBeNull();
    expect(recordings.reruns.create(rerun, choice, () => {})).toBeNull();
  });

  test("takes its rerun with it when it is deleted", () => {
    const rerun = start();
    recordings.claim(rerun);
    expect(recordings.delete(id)).toBe(true);
    expect(recordings.get(rerun)).toBeNull();
    expect(recordings.reruns.open()).toEqual([]);
    expect(recordings.open.areOpen([rerun]).get(rerun)).toBeUndefined();
    // What the pipeline completes after that has no effect.
    expect(complete(rerun, other)).toBe(true);
    expect(transcript.revisions(null, 10)).toEqual([]);
  });
});

describe("a rerun", () => {
  test("is in no list, and not among the recordings that end with their clients", () => {
    const rerun = start();
    expect(recordings.list({}, 10).map((each) => each.id)).toEqual([id]);
    expect(recordings.transientIds()).toEqual([]);
    expect(recordings.open.list().queued.map((each) => each.id)).toEqual([rerun]);
    expect(recordings.open.countOf(recordings.get(id)?.accountId ?? "")).toBe(0);
    expect(recordings.open.models()).toEqual(["whisper-small"]);
  });

  test("publishes the end of its recording again, and no failure", () => {
    const ends = () =>
      store
        .select()
        .from(tables.outbox)
        .all()
        .map(({ recordingId, outcome }) => [recordingId, outcome]);
    expect(ends()).toEqual([[id, "completed"]]);
    recordings.fail(start(), { reason: "no_speech" });
    expect(ends()).toEqual([[id, "completed"]]);
    process();
    expect(ends()).toEqual([
      [id, "completed"],
      [id, "completed"],
    ]);
  });
});
