import { describe, expect, test } from "bun:test";
import { importReplacements, respellSegments } from "../../src/replacements/index.ts";
import { indexMissing, indexRecording, SearchQuery, searchRecordings } from "../../src/search/index.ts";
import { packSegment, type Segment } from "../../src/segments/index.ts";
import { type Correction, Transcript } from "../../src/transcripts/index.ts";
import { addWebhook, listDeliveries } from "../../src/webhooks/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { Shelf } from "../support/shelf.ts";

const by = { actor: "operator", now: 1 };
const never = new AbortController().signal;

/** Returns a segment whose words each take half a second, with a low probability. */
function said(text: string, index: number): Segment {
  const start = index * 10;
  const words = text.split(" ").map((word, place) => ({
    ...{ text: ` ${word}`, startSeconds: start + place / 2, endSeconds: start + place / 2 + 0.4, probability: 0.3 },
  }));
  return {
    index,
    startSeconds: start,
    endSeconds: start + 9,
    speaker: index % 2,
    isSpeakerUncertain: true,
    text,
    words,
  };
}

class Scene {
  readonly shelf = new Shelf();
  #sequence = 0;

  constructor(...entries: readonly (readonly [source: string, target: string])[]) {
    const list = entries.map(([source, target]) => ({ source, target, matchesCase: false }));
    importReplacements(this.shelf.store, { id: this.shelf.accountId, name: "acme" }, list, by, true);
  }

  respelled(texts: readonly string[]) {
    const { store, accountId } = this.shelf;
    return respellSegments(store, accountId, texts.map(said).map(packSegment), never);
  }

  /** Completes a recording as the pipeline does. @returns its transcript */
  async completed(...texts: readonly string[]): Promise<Transcript> {
    const { recordings, store } = this.shelf;
    const { id } = this.shelf.create();
    recordings.claim(id);
    recordings.complete(id, texts.map(said).map(packSegment), () => {}, await this.respelled(texts));
    const recording = recordings.get(id);
    if (recording === null) throw new Error("the recording is missing");
    return new Transcript(store, recording);
  }

  correct(transcript: Transcript, correction: Correction) {
    this.#sequence += 1;
    const seen = transcript.revision;
    return transcript.correct(correction, {
      author: "anna",
      editor: "page-one",
      sequence: this.#sequence,
      seen,
      now: 9,
    });
  }
}

const textsOf = (transcript: Transcript) => [...transcript.segmentsFrom(0)].map(({ text }) => text);

describe("a transcript of an account with replacements", () => {
  test("has the replaced words, which are certain, with the times and speakers of the recognized ones", async () => {
    const scene = new Scene(["kuber netes", "Kubernetes"], ["jon", "John Smith"]);
    const transcript = await scene.completed("we use kuber netes daily", "nothing here", "hello jon");
    const [first, second, third] = [...transcript.wordsFrom(0)];
    expect(first).toMatchObject({
      text: "we use Kubernetes daily",
      startMilliseconds: 0,
      endMilliseconds: 9000,
      speaker: 0,
    });
    expect(first?.isSpeakerUncertain).toBe(true);
    expect(first?.words).toEqual([
      [" we", 0, 400, 0.3],
      [" use", 500, 900, 0.3],
      [" Kubernetes", 1000, 1900, 1],
      [" daily", 2000, 2400, 0.3],
    ]);
    expect(second?.words.map(([, , , probability]) => probability)).toEqual([0.3, 0.3]);
    expect(third?.words).toEqual([
      [" hello", 20_000, 20_400, 0.3],
      [" John", 20_500, expect.any(Number), 1],
      [" Smith", expect.any(Number), 20_900, 1],
    ]);
  });

  test("has no uncertain word where an entry keeps a part of the words", async () => {
    const scene = new Scene(["müller", "Müller GmbH"], ["acme corp", "acme Corporation"]);
    const transcript = await scene.completed("das ist Müller und acme corp");
    const [segment] = [...transcript.wordsFrom(0)];
    expect(segment?.words.map(([text, , , probability]) => [text, probability])).toEqual([
      [" das", 0.3],
      [" ist", 0.3],
      [" Müller", 1],
      [" GmbH", 1],
      [" und", 0.3],
      [" acme", 1],
      [" Corporation", 1],
    ]);
  });

  test("is a revision, whose recognized words can be compared, taken back and restored", async () => {
    const scene = new Scene(["kuber netes", "Kubernetes"]);
    const transcript = await scene.completed("we use kuber netes", "good", "kuber netes again");
    expect(transcript.revisions(null, 10)).toMatchObject([
      { number: 1, action: "respell", author: "replacements", segments: 2 },
    ]);
    const { differences } = await transcript.compareWith(0);
    expect(differences.map(({ before }) => before.map(({ text }) => text))).toEqual([
      ["we use kuber netes"],
      ["kuber netes again"],
    ]);
    scene.correct(transcript, { action: "revert", revision: 1 });
    expect(textsOf(transcript)).toEqual(["we use kuber netes", "good", "kuber netes again"]);
    scene.correct(transcript, { action: "restore", revision: 1 });
    expect(textsOf(transcript)).toEqual(["we use Kubernetes", "good", "Kubernetes again"]);
    scene.correct(transcript, { action: "restore", revision: 0 });
    expect(textsOf(transcript)).toEqual(["we use kuber netes", "good", "kuber netes again"]);
  });

  test("has no revision if nothing is replaced", async () => {
    const scene = new Scene(["kuber netes", "Kubernetes"], ["good", "good"]);
    const transcript = await scene.completed("we met", "good");
    expect([transcript.revision, transcript.revisions(null, 10), textsOf(transcript)]).toEqual([
      0,
      [],
      ["we met", "good"],
    ]);
  });

  test("is announced once, with its revision", async () => {
    const scene = new Scene(["jon", "John"]);
    const { store, accountId } = scene.shelf;
    const account = { id: accountId, name: "acme" };
    const events = ["recording.completed", "recording.corrected"] as const;
    const { webhook } = addWebhook(store, account, { url: "https://app.example.org/", events }, by);
    await scene.completed("hello jon");
    const deliveries = listDeliveries(store, webhook.id, 10);
    expect(deliveries.map(({ type, body }) => [type, JSON.parse(body).data.revision])).toEqual([
      ["recording.completed", 1],
    ]);
  });

  test("that is processed again is replaced, too, and its recognized words are a revision of their own", async () => {
    const scene = new Scene(["jon", "John"]);
    const transcript = await scene.completed("hello jon", "bye");
    const { recordings } = scene.shelf;
    const choice = { speechModel: "whisper-base", pinnedLanguage: null, author: "bob" };
    const rerun = recordings.reruns.create(transcript.recording.id, choice, () => {})?.id ?? "";
    const texts = ["well hello jon", "ok", "bye jon"];
    recordings.claim(rerun);
    recordings.complete(rerun, texts.map(said).map(packSegment), () => {}, await scene.respelled(texts));
    expect(textsOf(transcript)).toEqual(["well hello John", "ok", "bye John"]);
    expect(transcript.revisions(null, 10).map(({ action }) => action)).toEqual(["respell", "process", "respell"]);
    scene.correct(transcript, { action: "revert", revision: 3 });
    expect(textsOf(transcript)).toEqual(texts);
    scene.correct(transcript, { action: "restore", revision: 1 });
    expect(textsOf(transcript)).toEqual(["hello John", "bye"]);
  });

  test("keeps recognized words where the text would be too long", async () => {
    const scene = new Scene(["a", "b".repeat(200)]);
    const long = Array.from({ length: 200 }, () => "a").join(" ");
    const transcript = await scene.completed("a", long);
    expect(textsOf(transcript)).toEqual(["b".repeat(200), long]);
  });

  test("is corrected by people as any other", async () => {
    const scene = new Scene(["jon", "John"]);
    const transcript = await scene.completed("hello jon", "bye jon");
    scene.correct(transcript, { action: "text", segment: 1, text: "bye, Jon" });
    expect(textsOf(transcript)).toEqual(["hello John", "bye, Jon"]);
    expect(transcript.revisions(null, 10).map(({ author }) => author)).toEqual(["anna", "replacements"]);
    // Only the segments that nobody has changed since can be taken back as a whole.
    expect(() => scene.correct(transcript, { action: "revert", revision: 1 })).toThrow("changed_meanwhile");
  });
});

test("a transcript with many replacements that are taken back is indexed again in batches, also after a crash", async () => {
  const scene = new Scene(["kuber netes", "Kubernetes"]);
  const { store, accountId } = scene.shelf;
  const texts = Array.from({ length: 1000 }, (_, index) => `we use kuber netes ${index}`);
  const transcript = await scene.completed(...texts);
  const { id } = transcript.recording;
  const found = async (q: string) => {
    const page = await searchRecordings(store, new SearchQuery(q), [accountId], {}, null, 10);
    return page.found.map(({ segments }) => segments);
  };
  await indexRecording(store, id, never);
  expect([await found("Kubernetes "), await found('"kuber netes" ')]).toEqual([[[0, 1, 2]], []]);
  scene.correct(transcript, { action: "revert", revision: 1 });
  // Somebody corrects a segment before the others are indexed.
  scene.correct(transcript, { action: "text", segment: 0, text: "we use something else" });
  const crash = new AbortController();
  const crashed = indexRecording(store, id, crash.signal);
  let turns = 0;
  await countTurnsUntilSettled(
    crashed.catch(() => {}),
    () => ++turns === 5 && crash.abort(new Error("crash")),
  );
  await expect(crashed).rejects.toThrow("crash");
  const later = await countTurnsUntilSettled(indexMissing(store, never));
  expect(later).toBeGreaterThan(10);
  expect(await found("Kubernetes ")).toEqual([]);
  expect(await found('"kuber netes" ')).toEqual([[1, 2, 3]]);
  expect(await found("else ")).toEqual([[0]]);
  expect(await found("999 ")).toEqual([[999]]);
});

test("a search for replacements ends when its recording is suspended", async () => {
  const scene = new Scene(["jon", "John"]);
  const controller = new AbortController();
  const segments = Array.from({ length: 1000 }, (_, index) => packSegment(said("hello jon", index)));
  const search = respellSegments(scene.shelf.store, scene.shelf.accountId, segments, controller.signal);
  controller.abort(new Error("suspended"));
  await expect(search).rejects.toThrow("suspended");
});
