import { beforeEach, expect, test } from "bun:test";
import type { Store } from "../../src/database/index.ts";
import type { Recordings } from "../../src/recordings/index.ts";
import { packSegment, type Segment } from "../../src/segments/index.ts";
import { type Correction, Transcript, Translation } from "../../src/transcripts/index.ts";
import { Shelf } from "../support/shelf.ts";

let store: Store;
let recordings: Recordings;
let id = "";

const said = (index: number, [start, end]: readonly [number, number], speaker: number, text: string): Segment => ({
  ...{ index, startSeconds: start, endSeconds: end, speaker, text },
  words: [{ text: ` ${text}`, startSeconds: start, endSeconds: end, probability: 0.5 }],
});

beforeEach(() => {
  const shelf = new Shelf(() => 1000);
  ({ store, recordings } = shelf);
  ({ id } = shelf.create({ isTranslated: true }));
  recordings.claim(id);
  const translation = [said(0, [0, 2], 0, "one"), said(1, [2.2, 4], 1, "two"), said(2, [6, 7], 1, "three")];
  recordings.rows.addTranslation(id, translation.map(packSegment));
  recordings.complete(id, [said(0, [0, 2], 0, "eins"), said(1, [2, 4.5], 1, "zwei"), said(2, [5, 8], 0, "drei")]);
});

function recording() {
  const found = recordings.get(id);
  if (found === null) throw new Error("the recording is missing");
  return found;
}

const shown = () =>
  [...new Translation(store, recording()).allSegments()].map(({ speaker, text }) => `${speaker} ${text}`);

let sequence = 0;
const correct = (correction: Correction) =>
  new Transcript(store, recording()).correct(correction, {
    ...{ author: "anna", editor: "page-one", sequence: ++sequence, now: 2000 },
    seen: recording().revision,
  });

test("a translation has the speakers of the transcript at its times", () => {
  expect(shown()).toEqual(["0 one", "1 two", "0 three"]);
});

test("a translation follows corrections of speakers, and not those of words", () => {
  correct({ action: "text", segment: 0, text: "korrigiert" });
  correct({ action: "assign", segments: [2], speaker: 1 });
  expect(shown()).toEqual(["0 one", "1 two", "1 three"]);
  correct({ action: "merge_speakers", from: 1, into: 0 });
  expect(shown()).toEqual(["0 one", "0 two", "0 three"]);
});

test("the names of speakers are those of the transcript", () => {
  new Transcript(store, recording()).rename(new Map([[1, "Anna"]]));
  const translation = new Translation(store, recording());
  expect([translation.language, [...translation.speakerNames()], translation.speakerNumbers()]).toEqual([
    "en",
    [[1, "Anna"]],
    [0, 1],
  ]);
});

test("a page begins at any segment, with its words on request", () => {
  const translation = new Translation(store, recording());
  const [segment, ...others] = [...translation.segmentsFrom(1)];
  expect([segment?.index, segment?.text, segment?.words, others.length]).toEqual([1, "two", undefined, 1]);
  expect([...translation.segmentsFrom(2, true)].map(({ words }) => words)).toEqual([[[" three", 6000, 7000, 0.5]]]);
  expect([...translation.segmentsFrom(3)]).toEqual([]);
});

test("where two people speak at once, a segment keeps the speaker in whose channel it was recognized", () => {
  const shelf = new Shelf(() => 1000);
  const created = shelf.create({ isTranslated: true });
  shelf.recordings.claim(created.id);
  shelf.recordings.rows.addTranslation(created.id, [packSegment(said(0, [1, 2], 1, "both"))]);
  shelf.recordings.complete(created.id, [said(0, [0, 5], 0, "eins"), said(1, [0.5, 3], 1, "zwei")]);
  const translation = new Translation(shelf.store, shelf.recordings.get(created.id) ?? created);
  expect([...translation.allSegments()].map(({ speaker }) => speaker)).toEqual([1]);
});
