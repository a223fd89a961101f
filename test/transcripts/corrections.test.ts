import { beforeEach, describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { type Store, tables } from "../../src/database/index.ts";
import type { Recordings } from "../../src/recordings/index.ts";
import { indexRecording, SearchQuery, searchRecordings } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import type { Correction, CorrectionError, Transcript } from "../../src/transcripts/index.ts";
import { Shelf } from "../support/shelf.ts";

const texts = ["We met in June.", "Yes, we did.", "And then?", "Then he left.", "Nobody knew why.", "I did."];
const speakers = [0, 1, 0, 2, 1, 0];

function said(text: string, index: number): Segment {
  const words = text.split(" ").map((word, place) => ({
    text: ` ${word}`,
    startSeconds: index * 2 + place * 0.3,
    endSeconds: index * 2 + place * 0.3 + 0.2,
    probability: 0.9,
  }));
  return { index, startSeconds: index * 2, endSeconds: index * 2 + 1.5, speaker: speakers[index] ?? 0, text, words };
}

let shelf: Shelf;
let store: Store;
let recordings: Recordings;
let transcript: Transcript;
let now = 0;
let sequence = 0;

beforeEach(() => {
  now = 1_000_000;
  sequence = 0;
  shelf = new Shelf(() => now);
  ({ store, recordings } = shelf);
  transcript = shelf.completed(texts.map(said));
});

const correct = (correction: Correction, by: { editor?: string; seen?: number; author?: string } = {}) => {
  now += 60_000;
  sequence += 1;
  const origin = { author: "anna", editor: "page-one", seen: transcript.revision, sequence, now };
  return transcript.correct(correction, { ...origin, ...by });
};
const refused = (correction: Correction, by = {}) => {
  try {
    correct(correction, by);
    return null;
  } catch (error) {
    return (error as CorrectionError).reason;
  }
};
const all = () => [...transcript.allSegments()];
const shown = () => all().map(({ speaker, text }) => `${"ABCDEFG"[speaker]}: ${text}`);
const letters = () =>
  shown()
    .join("\n")
    .replace(/:.*\n?/g, "");
/** Returns the words of a segment, joined. */
const spoken = (segment: ReturnType<typeof all>[number] | undefined) =>
  (segment?.words ?? []).map(([word]) => word).join("");
const found = async (word: string) => {
  const page = await searchRecordings(store, new SearchQuery(`${word} `), "all", {}, null, 10);
  return page.found.flatMap(({ segments }) => segments);
};
const revisionNumbers = () => transcript.revisions(null, 1000).map(({ number }) => number);

describe("a correction", () => {
  test("replaces a text, and leaves the recognized segments as they are", () => {
    const before = store.select().from(tables.segments).all();
    expect(correct({ action: "text", segment: 1, text: "  Yes,\n we\u0000 never did. " })).toMatchObject({ number: 1 });
    expect(shown()[1]).toBe("B: Yes, we never did.");
    expect(all()[1]?.words.map(([word, start]) => [word, start])).toEqual([
      [" Yes,", 2000],
      [" we", 2300],
      [" never", 2500],
      [" did.", 2600],
    ]);
    expect(store.select().from(tables.segments).all()).toEqual(before);
  });

  test("moves updated_at, but not the status and the time from which retention counts", () => {
    const before = recordings.get(transcript.recording.id);
    now = 5_000_000;
    correct({ action: "text", segment: 0, text: "We met." });
    const after = recordings.get(transcript.recording.id);
    expect(after).toEqual({
      ...(before as NonNullable<typeof before>),
      ...{ updatedAt: 5_060_000, revision: 1, correctedState: after?.correctedState ?? "" },
    });
  });

  test("that changes nothing makes no revision", () => {
    expect(correct({ action: "text", segment: 1, text: "Yes,  we did." })).toEqual({
      ...{ number: null, replaces: null, next: null },
    });
    expect([transcript.revision, store.select().from(tables.correctedSegments).all()]).toEqual([0, []]);
    expect(correct({ action: "assign", segments: [0], speaker: 0 })?.number).toBeNull();
  });

  test.each([
    ["a \u0000 b\tc\u0007", "a b c"],
    ["a\r\nb\u0085c\u2028d  e", "a b c d e"],
    ["Oui\u202f! « 10\u00a0000 »", "Oui\u202f! « 10\u00a0000 »"],
    ["山田\u3000太郎\u3000\u3000様", "山田\u3000太郎\u3000\u3000様"],
    ["a\u2003b \u2009c\u2007d", "a\u2003b \u2009c\u2007d"],
    [
      "葛\u{e0100}城 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 1\ufe0f\u20e3 ᠨ\u180eᠠ\u180b",
      "葛\u{e0100}城 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 1\ufe0f\u20e3 ᠨ\u180eᠠ\u180b",
    ],
    ["a\ufeffb\u202ec\u{e0068}\u{e0069}", "abc"],
    ["ab\u0000cd", "abcd"],
    ["lone \ud800 half", "lone \ufffd half"],
    ["می\u200cخواهم", "می\u200cخواهم"],
  ])("stores %p as one line that can be written anywhere", (text, stored) => {
    correct({ action: "text", segment: 1, text });
    expect(all()[1]?.text).toBe(stored);
  });

  test("with nothing to be seen removes a segment", () => {
    correct({ action: "text", segment: 1, text: " \u200b\n" });
    expect(all().map(({ index, id }) => [index, id])).toEqual([
      [0, 0],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ]);
    correct({ action: "revert", revision: 1 });
    expect(shown()[1]).toBe("B: Yes, we did.");
  });

  test("finds a text with other spaces and without selectors, and keeps those of the rest", () => {
    correct({ action: "text", segment: 0, text: "Prix\u00a0: 10\u202f000\u00a0€, 葛\u{e0100}城\u3000a" });
    const replace = { action: "replace" as const, after: null, except: [], whole_words: false };
    correct({ ...replace, find: "prix : 10 000", replacement: "Total\u00a0: 12\u202f000", matches_case: false });
    expect(all()[0]?.text).toBe("Total\u00a0: 12\u202f000\u00a0€, 葛\u{e0100}城\u3000a");
    correct({ ...replace, find: "葛城", replacement: "辻\u{e0100}", matches_case: false });
    expect(all()[0]?.text).toBe("Total\u00a0: 12\u202f000\u00a0€, 辻\u{e0100}\u3000a");
    // The same spelling: plain spaces only.
    correct({ ...replace, find: " a", replacement: "b", matches_case: true });
    expect(all()[0]?.text).toEndWith("\u3000a");
    expect(spoken(all()[0])).toBe(` ${all()[0]?.text}`);
  });

  test.each([
    ["今日は。元気です。", 4],
    ["𠮷野家で𠮷野家", 5],
    ["辻\u{e0100}辻\u{e0100}さん", 3],
    ["“今天很好。”我们走吧", 7],
    ["วันนี้อากาศดี", 6],
  ])("splits %p, which has no spaces, and merges it without one", (text, character) => {
    correct({ action: "text", segment: 0, text });
    correct({ action: "split", segment: 0, character });
    const right = all()[1]?.id ?? -1;
    correct({ action: "merge", segment: 0, next: right });
    expect(all()[0]?.text).toBe(text);
    expect(spoken(all()[0])).toBe(text);
  });

  test("splits a segment and merges it again", () => {
    const original = all()[0];
    correct({ action: "split", segment: 0, character: 7 });
    expect(shown().slice(0, 3)).toEqual(["A: We met", "A: in June.", "B: Yes, we did."]);
    const right = all()[1]?.id ?? -1;
    expect(right).toBe(6);
    correct({ action: "merge", segment: 0, next: right });
    expect(all()[0]).toEqual(original as NonNullable<typeof original>);
    expect(refused({ action: "merge", segment: 0, next: 2 })).toBe("not_mergeable");
    expect(refused({ action: "split", segment: 0, character: 0 })).toBe("nothing_to_split");
  });

  test("keeps segments in the order of their start where people speak at once", () => {
    const long = { ...said("Somebody speaks for a while.", 0), endSeconds: 10 };
    const words = long.words.map((word, place) => ({ ...word, startSeconds: place * 2, endSeconds: place * 2 + 1 }));
    const short = { ...said("Yes, we did.", 1), startSeconds: 3, endSeconds: 4 };
    transcript = shelf.completed([{ ...long, words }, short]);
    correct({ action: "split", segment: 0, character: 20 });
    const starts = all().map(({ startMilliseconds, text }) => [startMilliseconds, text]);
    expect(starts).toEqual([
      [0, "Somebody speaks for"],
      [3000, "Yes, we did."],
      [6000, "a while."],
    ]);
  });

  test("assigns segments to another speaker or a new one, and the letters follow the first appearance", () => {
    correct({ action: "assign", segments: [0], speaker: 1 });
    expect(letters()).toBe("AABCAB");
    expect(transcript.speakerNumbers()).toEqual([1, 0, 2]);
    correct({ action: "assign", segments: [4, 5], speaker: null });
    expect(letters()).toBe("AABCDD");
    expect(refused({ action: "assign", segments: [0], speaker: 9 })).toBe("no_such_speaker");
  });

  test("merges speakers, and a name stays with its speaker", () => {
    transcript.rename(
      new Map([
        [0, "Ada"],
        [2, "Carl"],
      ]),
    );
    correct({ action: "merge_speakers", from: 0, into: 1 });
    expect(letters()).toBe("AAABAA");
    expect(transcript.speakerNames()).toEqual(new Map([[1, "Carl"]]));
    correct({ action: "revert", revision: 1 });
    expect(letters()).toBe("ABACBA");
    expect(transcript.speakerNames()).toEqual(
      new Map([
        [0, "Ada"],
        [2, "Carl"],
      ]),
    );
  });

  test("replaces a text in all segments but some", () => {
    const wanted = { find: "DID", replacement: "didn't", matches_case: false, whole_words: true };
    expect(correct({ action: "replace", ...wanted, after: null, except: [5] })?.next).toBeNull();
    expect(shown()[1]).toBe("B: Yes, we didn't.");
    expect(shown()[5]).toBe("A: I did.");
    expect(correct({ action: "replace", ...wanted, matches_case: true, after: null, except: [] })?.number).toBeNull();
    correct({ action: "replace", ...{ ...wanted, find: "And then?", replacement: "" }, after: null, except: [] });
    expect(all()).toHaveLength(5);
    correct({
      action: "replace",
      ...{ ...wanted, find: "ne", replacement: "x", whole_words: false },
      after: null,
      except: [],
    });
    expect(shown()[0]).toBe("A: We met in Jux.");
  });

  test("is found by the search, and the text before is not", async () => {
    await indexRecording(store, transcript.recording.id, new AbortController().signal);
    expect([await found("june"), await found("july")]).toEqual([[0], []]);
    correct({ action: "text", segment: 0, text: "We met in July." });
    expect([await found("june"), await found("july")]).toEqual([[], [0]]);
    correct({ action: "split", segment: 0, character: 7 });
    expect([await found("met"), await found("july")]).toEqual([[0], [6]]);
    expect(transcript.segment(6)).toMatchObject({ index: 1, text: "in July." });
    correct({ action: "restore", revision: 0 });
    expect([await found("june"), await found("july")]).toEqual([[0], []]);
  });

  test("made while the recording is being indexed is found as well", async () => {
    correct({ action: "split", segment: 0, character: 7 });
    correct({ action: "text", segment: 6, text: "in July." });
    await indexRecording(store, transcript.recording.id, new AbortController().signal);
    expect(await found("july")).toEqual([6]);
  });

  test("of a recording that is deleted is not made", () => {
    recordings.delete(transcript.recording.id);
    expect(correct({ action: "text", segment: 0, text: "Gone." })).toBeNull();
  });
});

describe("a correction of several segments", () => {
  const wanted = { find: "did", replacement: "did did", matches_case: true, whole_words: true };

  test("continues behind the segment that it reached, whatever others split and merge meanwhile", () => {
    const many = Array.from({ length: 150 }, (_, index) => said("We did.", index));
    transcript = shelf.completed(many);
    const first = correct({ action: "replace", ...wanted, after: null, except: [] });
    expect(first?.next).toEqual({ id: 99, start_milliseconds: 198_000 });
    // The page has not received the answer, and sends its request again.
    sequence -= 1;
    expect(correct({ action: "replace", ...wanted, after: null, except: [] })).toEqual(first);
    correct({ action: "split", segment: 5, character: 3 }, { editor: "page-two" });
    correct({ action: "merge", segment: 7, next: 8 }, { editor: "page-two" });
    const second = correct({ action: "replace", ...wanted, after: first?.next ?? null, except: [] });
    expect(second?.next).toBeNull();
    expect(all().filter(({ text }) => text.includes("did did did"))).toEqual([]);
    expect(all().at(-1)?.text).toBe("We did did.");
    expect(correct({ action: "restore", revision: 0 })?.next).not.toBeNull();
    while (correct({ action: "restore", revision: 0 })?.next !== null);
    expect(all().map(({ text }) => text)).toEqual(many.map(({ text }) => text));
  });

  test("leaves texts without a match as they are, also their spaces", () => {
    transcript = shelf.completed([{ ...said("x", 0), text: "今日は　晴れ  です" }]);
    expect(correct({ action: "replace", ...wanted, after: null, except: [] })?.number).toBeNull();
  });
});

test("a reverted merge puts each segment where it belongs, also if another one is there now", () => {
  const long = { ...said("Somebody speaks for a while.", 0), endSeconds: 20, words: [] };
  const short = (index: number, startSeconds: number) => ({
    ...{ ...said("Yes, we did.", index), startSeconds, endSeconds: startSeconds + 1, words: [] },
  });
  transcript = shelf.completed([long, short(1, 1), short(2, 12)]);
  correct({ action: "merge", segment: 1, next: 2 });
  correct({ action: "split", segment: 0, character: 9 });
  correct({ action: "revert", revision: 1 });
  expect(all().map(({ startMilliseconds, index }) => [startMilliseconds, index])).toEqual([
    [0, 0],
    [1000, 1],
    [5714, 2],
    [12_000, 3],
  ]);
});

test("a replacement ignores accents, and replaces no part of a letter", () => {
  correct({ action: "text", segment: 0, text: "Die Straße, die STRASSE: eﬀektiv, don’t." });
  const replaced = (find: string, replacement: string) => {
    const wanted = { find, replacement, matches_case: false, whole_words: false };
    correct({ action: "replace", ...wanted, after: null, except: [1, 2, 3, 4, 5] });
    return shown()[0];
  };
  expect(replaced("s", "z")).toBe("A: Die ztraße, die zTRAzzE: eﬀektiv, don’t.");
  expect(replaced("f", "v")).toBe("A: Die ztraße, die zTRAzzE: eﬀektiv, don’t.");
  expect(replaced("ztrasse", "Gasse")).toBe("A: Die Gasse, die zTRAzzE: eﬀektiv, don’t.");
  expect(replaced("don't", "do not")).toBe("A: Die Gasse, die zTRAzzE: eﬀektiv, do not.");
});

describe("two people", () => {
  const second = { editor: "page-two", seen: 0, author: "ben" };

  test("change different segments at once", () => {
    correct({ action: "text", segment: 0, text: "One." }, { editor: "page-one", seen: 0 });
    correct({ action: "text", segment: 1, text: "Two." }, { editor: "page-two", seen: 0, author: "ben" });
    expect(shown().slice(0, 2)).toEqual(["A: One.", "B: Two."]);
  });

  test("learn of a change of the same segment before they replace it", () => {
    correct({ action: "text", segment: 0, text: "One." });
    expect(refused({ action: "text", segment: 0, text: "Two." }, second)).toBe("changed_meanwhile");
    expect(refused({ action: "split", segment: 0, character: 7 }, second)).toBe("changed_meanwhile");
    expect(transcript.changesAfter(0, second)).toMatchObject({
      splices: [{ index: 0, inserted: [{ id: 0, text: "One." }] }],
      authors: ["anna"],
    });
    correct({ action: "text", segment: 0, text: "Two." }, { ...second, seen: 1 });
    expect(shown()[0]).toBe("A: Two.");
  });

  test("are told to read the transcript again when the letters of speakers change", () => {
    correct({ action: "assign", segments: [1], speaker: 2 });
    expect(transcript.changesAfter(0, second).splices).toBeNull();
    correct({ action: "assign", segments: [1], speaker: 1 });
    correct({ action: "assign", segments: [5], speaker: 1 });
    const { splices } = transcript.changesAfter(2, second);
    expect(splices).toMatchObject([{ index: 5, inserted: [{ id: 5, speaker: 1 }] }]);
    expect(transcript.changesAfter(3, second)).toEqual({ splices: [], authors: [] });
  });

  test("whose pages have the same id are two authors", () => {
    const by = { author: "anna", editor: "page-one", sequence: 7, seen: 0, now };
    const ben = { ...by, author: "ben" };
    transcript.correct({ action: "text", segment: 0, text: "One." }, by);
    // Neither the number of the request nor the segment makes it a repetition or a continuation of the other's.
    expect(() => transcript.correct({ action: "text", segment: 0, text: "Two." }, ben)).toThrow("changed_meanwhile");
    const typed = transcript.correct({ action: "text", segment: 0, text: "Two." }, { ...ben, seen: 1 });
    expect(typed).toEqual({ number: 2, replaces: null, next: null });
    expect(transcript.correct({ action: "text", segment: 0, text: "Two." }, { ...ben, seen: 1 })).toEqual(typed);
    expect(transcript.revisions(null, 10).map(({ author }) => author)).toEqual(["ben", "anna"]);
    expect(transcript.changesAfter(0, by).authors).toEqual(["ben"]);
    expect(transcript.changesAfter(0, ben).authors).toEqual(["anna"]);
  });
});

describe("a revision", () => {
  test("is made once for a repeated request", () => {
    correct({ action: "text", segment: 0, text: "One." });
    sequence -= 1;
    expect(correct({ action: "text", segment: 0, text: "One." }, { seen: 0 })).toMatchObject({ number: 1 });
    expect(transcript.revision).toBe(1);
  });

  test("continues while a person types in one segment", () => {
    correct({ action: "text", segment: 0, text: "We m" });
    const continued = correct({ action: "text", segment: 0, text: "We met Ada." });
    expect(continued).toMatchObject({ number: 2, replaces: 1 });
    sequence -= 1;
    expect(correct({ action: "text", segment: 0, text: "We met Ada." })).toEqual(continued);
    expect(revisionNumbers()).toEqual([2]);
    correct({ action: "text", segment: 1, text: "No." });
    correct({ action: "text", segment: 0, text: "We met Eve." });
    now += 3_600_000;
    correct({ action: "text", segment: 0, text: "We met Kim." });
    correct({ action: "text", segment: 0, text: "We met Bob." }, { editor: "page-two" });
    expect(revisionNumbers()).toEqual([6, 5, 4, 3, 2]);
    correct({ action: "restore", revision: 4 });
    expect(shown()[0]).toBe("A: We met Eve.");
    correct({ action: "restore", revision: 0 });
    expect(shown()[0]).toBe("A: We met in June.");
  });

  test("is reverted if nobody has changed its segments since", () => {
    correct({ action: "text", segment: 0, text: "One." });
    correct({ action: "split", segment: 1, character: 5 });
    correct({ action: "assign", segments: [0], speaker: 2 });
    correct({ action: "revert", revision: 1 });
    expect(shown().slice(0, 3)).toEqual(["A: We met in June.", "B: Yes,", "B: we did."]);
    // Reverting again makes the change again.
    correct({ action: "revert", revision: 4 });
    expect(shown()[0]).toBe("A: One.");
    correct({ action: "text", segment: 0, text: "Other." }, { editor: "page-two" });
    expect(refused({ action: "revert", revision: 5 })).toBe("changed_meanwhile");
    expect(refused({ action: "revert", revision: 77 })).toBe("no_such_revision");
    expect(refused({ action: "restore", revision: 77 })).toBe("no_such_revision");
  });

  test("that restored another one is reverted with texts and speakers", () => {
    correct({ action: "text", segment: 1, text: "No." });
    correct({ action: "assign", segments: [1, 2], speaker: null });
    correct({ action: "merge_speakers", from: 2, into: 0 });
    const before = shown();
    correct({ action: "restore", revision: 0 });
    correct({ action: "revert", revision: transcript.revision });
    expect(shown()).toEqual(before);
    // A speaker that was assigned since stays, and the text is taken back.
    correct({ action: "restore", revision: 0 });
    const restored = transcript.revision;
    correct({ action: "assign", segments: [1], speaker: 2 });
    correct({ action: "revert", revision: restored });
    expect(shown()[1]).toBe("B: No.");
    expect(all().map(({ speaker }) => transcript.speakerNumbers()[speaker])).toEqual([0, 2, 3, 0, 1, 0]);
  });

  test("has a kind that tells a deletion from another text, and a repetition from taking back", () => {
    correct({ action: "text", segment: 0, text: " " });
    for (const revision of [1, 2, 3]) correct({ action: "revert", revision });
    const kinds = transcript.revisions(null, 10).map(({ action }) => action);
    expect(kinds.toReversed()).toEqual(["delete", "revert", "redo", "revert"]);
  });

  test("is compared with the latest transcript", async () => {
    correct({ action: "text", segment: 4, text: "Everybody knew." });
    correct({ action: "split", segment: 1, character: 5 });
    const { differences } = await transcript.compareWith(0);
    expect(
      differences.map(({ index, before, after }) => [index, before.length, after.map(({ text }) => text)]),
    ).toEqual([
      [1, 1, ["Yes,", "we did."]],
      [5, 1, ["Everybody knew."]],
    ]);
    expect((await transcript.compareWith(1)).differences).toHaveLength(1);
    expect((await transcript.compareWith(2)).differences).toEqual([]);
  });

  test("is compared in steps: others can correct the transcript meanwhile, and remove it", async () => {
    correct({ action: "text", segment: 4, text: "Everybody knew." });
    for (let round = 0; round < 350; round++) correct({ action: "assign", segments: [2], speaker: round % 2 });
    correct({ action: "text", segment: 3, text: "He left." });
    const comparing = transcript.compareWith(1);
    // The latest revision is continued by typing, and others follow.
    correct({ action: "text", segment: 3, text: "He left then." });
    correct({ action: "merge_speakers", from: 1, into: 0 });
    const { differences, speakersBefore } = await comparing;
    expect(differences.map(({ after }) => after.map(({ text, speaker }) => [text, speaker]))).toEqual([
      [
        ["And then?", 1],
        ["He left.", 2],
      ],
    ]);
    expect(differences[0]?.before.map(({ speaker }) => speaker)).toEqual([0, 2]);
    expect(speakersBefore).toEqual([0, 1, 2]);
    const interrupted = transcript.compareWith(1);
    store.delete(tables.revisions).run();
    await expect(interrupted).rejects.toMatchObject({ reason: "no_such_revision" });
  });
});

test("any corrections keep the transcript in order, and each state of it can be restored", async () => {
  const random = randomNumbers(44);
  const below = (limit: number) => Math.floor(random() * limit);
  const signal = new AbortController().signal;
  store.$client.run("UPDATE segments SET is_speaker_uncertain = 1 WHERE speaker = 0");
  await indexRecording(store, transcript.recording.id, signal);
  const stateNow = () => JSON.stringify(all().map(stateOf));
  const marksNow = () => all().map(({ isSpeakerUncertain }) => isSpeakerUncertain);
  const states = new Map([[0, { state: stateNow(), marks: marksNow() }]]);
  for (let round = 0; round < 160; round++) {
    const segments = all();
    const segment = segments[below(segments.length)];
    const next = segments[(segment?.index ?? 0) + 1];
    if (segment === undefined) break;
    const numbers = transcript.speakerNumbers();
    const speaker = () => numbers[below(numbers.length)] ?? 0;
    const choices: (Correction | null)[] = [
      { action: "text", segment: segment.id, text: `${segment.text.slice(below(9))} new${round}` },
      { action: "text", segment: segment.id, text: segments.length > 4 && below(4) === 0 ? "" : `Line ${round}.` },
      { action: "split", segment: segment.id, character: below(segment.text.length) },
      { action: "split", segment: segment.id, character: segment.text.indexOf(" ") + 1 },
      next === undefined || segments.length < 4 ? null : { action: "merge", segment: segment.id, next: next.id },
      { action: "assign", segments: [segment.id], speaker: below(5) === 0 && numbers.length < 6 ? null : speaker() },
      numbers.length < 3 ? null : { action: "merge_speakers", from: speaker(), into: speaker() },
      {
        ...{ action: "replace", find: "e", replacement: below(2) === 0 ? "ee" : "", after: null, except: [segment.id] },
        ...{ matches_case: true, whole_words: false },
      },
      { action: "revert", revision: transcript.revision },
      below(8) > 0 ? null : { action: "restore", revision: [...states.keys()][below(states.size)] ?? 0 },
    ];
    const correction = choices[below(choices.length)] ?? null;
    if (correction === null) continue;
    const reason = refused(correction, { editor: `page-${below(2)}000` });
    if (reason !== null) expect(["nothing_to_split", "changed_meanwhile", "no_such_revision"]).toContain(reason);
    checkTranscript();
    // Typing in one segment has replaced the revision before.
    if (transcript.revision > 1 && !revisionNumbers().includes(transcript.revision - 1))
      states.delete(transcript.revision - 1);
    states.set(transcript.revision, { state: stateNow(), marks: marksNow() });
  }
  expect(states.size).toBeGreaterThan(100);
  expect(new Set([...states.values()].map(({ marks }) => marks.join())).size).toBeGreaterThan(5);
  for (const [number, { state, marks }] of states) {
    const { differences } = await transcript.compareWith(number);
    expect(differences.length > 0).toBe(stateNow() !== state);
    correct({ action: "restore", revision: number });
    expect([stateNow(), marksNow()]).toEqual([state, marks]);
    checkTranscript();
  }
});

const stateOf = ({ id, startMilliseconds, endMilliseconds, text, words, speaker }: ReturnType<typeof all>[number]) => ({
  ...{ id, startMilliseconds, endMilliseconds, text, words },
  speaker: transcript.speakerNumbers()[speaker],
});

/** Checks what the API promises of segments, and that the search index holds the texts. */
function checkTranscript(): void {
  const segments = all();
  expect(segments.map(({ index }) => index)).toEqual(segments.map((_, place) => place));
  const first = [...new Set(segments.map(({ speaker }) => speaker))];
  expect(first).toEqual(first.map((_, place) => place));
  expect(transcript.speakerNumbers()).toHaveLength(first.length);
  let start = 0;
  for (const segment of segments) {
    expect(segment.startMilliseconds).toBeGreaterThanOrEqual(start);
    expect(segment.endMilliseconds).toBeGreaterThan(segment.startMilliseconds);
    expect([segment.text.trim(), segment.text !== ""]).toEqual([segment.text, true]);
    expect(spoken(segment).trim()).toBe(segment.text);
    start = segment.startMilliseconds;
  }
  const indexed = store.$client.query<{ rows: number }, []>("SELECT count(*) AS rows FROM searchable_texts").get();
  expect(indexed?.rows).toBe(segments.length + 1);
}

describe("an uncertain speaker", () => {
  /** Indexes of the segments whose speaker is uncertain. */
  const uncertain = () => all().flatMap(({ index, isSpeakerUncertain }) => (isSpeakerUncertain ? [index] : []));
  const number = (corrected: ReturnType<typeof correct>) => corrected?.number ?? 0;

  beforeEach(() => {
    const segments = texts.map((text, index) => ({ ...said(text, index), isSpeakerUncertain: index < 3 }));
    transcript = shelf.completed(segments);
  });

  test("becomes certain when a person chooses another one, and uncertain again when that is taken back", () => {
    expect(uncertain()).toEqual([0, 1, 2]);
    const assigned = number(correct({ action: "assign", segments: [1, 3], speaker: 0 }));
    expect([letters(), uncertain()]).toEqual(["AAAABA", [0, 2]]);
    const undone = number(correct({ action: "revert", revision: assigned }));
    expect([letters(), uncertain()]).toEqual(["ABACBA", [0, 1, 2]]);
    correct({ action: "revert", revision: undone });
    expect([letters(), uncertain()]).toEqual(["AAAABA", [0, 2]]);
  });

  test("becomes certain when a person confirms it, and only then is that a revision", () => {
    const confirmed = correct({ action: "assign", segments: [0], speaker: 0 });
    expect([number(confirmed), letters(), uncertain()]).toEqual([1, "ABACBA", [1, 2]]);
    expect(correct({ action: "assign", segments: [0], speaker: 0 })?.number).toBeNull();
    expect(transcript.changesAfter(0, { author: "ben", editor: "page-two" }).splices).toMatchObject([
      { index: 0, inserted: [{ id: 0, isSpeakerUncertain: false }] },
    ]);
    correct({ action: "revert", revision: 1 });
    expect(uncertain()).toEqual([0, 1, 2]);
  });

  test("stays confirmed when an earlier change of the text is taken back", () => {
    const typed = number(correct({ action: "text", segment: 0, text: "We met in May." }));
    expect(uncertain()).toEqual([0, 1, 2]);
    correct({ action: "assign", segments: [0], speaker: 0 });
    correct({ action: "revert", revision: typed });
    expect([shown()[0], uncertain()]).toEqual(["A: We met in June.", [1, 2]]);
  });

  test("is that of both parts of a split segment, and of the first of two that are merged", () => {
    correct({ action: "split", segment: 0, character: 7 });
    expect([shown().slice(0, 2), uncertain()]).toEqual([
      ["A: We met", "A: in June."],
      [0, 1, 2, 3],
    ]);
    correct({ action: "assign", segments: [0], speaker: 0 });
    correct({ action: "merge", segment: 0, next: 6 });
    expect(uncertain()).toEqual([1, 2]);
  });

  test("stays uncertain when its speaker is merged with another one, also after that is taken back", () => {
    const merged = number(correct({ action: "merge_speakers", from: 0, into: 2 }));
    expect([letters(), uncertain()]).toEqual(["ABAABA", [0, 1, 2]]);
    correct({ action: "revert", revision: merged });
    expect([letters(), uncertain()]).toEqual(["ABACBA", [0, 1, 2]]);
  });

  test("is uncertain again in a restored transcript, but a comparison shows texts and speakers alone", async () => {
    correct({ action: "text", segment: 5, text: "We did." });
    correct({ action: "assign", segments: [0], speaker: 0 });
    expect((await transcript.compareWith(1)).differences).toEqual([]);
    correct({ action: "restore", revision: 1 });
    expect([shown()[5], uncertain()]).toEqual(["A: We did.", [0, 1, 2]]);
    correct({ action: "restore", revision: 0 });
    expect([shown()[5], uncertain()]).toEqual(["A: I did.", [0, 1, 2]]);
  });
});

test("a revision of an earlier version, which knew no uncertain speakers, is taken back", () => {
  const assigned = correct({ action: "assign", segments: [1], speaker: 0 })?.number ?? 0;
  const [row] = store.select().from(tables.revisions).all();
  const [change] = JSON.parse(row?.changes ?? "[]");
  expect(Object.keys(change)).toEqual(["kind", "ids", "from", "to"]);
  const typed = correct({ action: "text", segment: 2, text: "Then?" })?.number ?? 0;
  const older = store
    .select()
    .from(tables.revisions)
    .all()
    .at(-1)
    ?.changes.replaceAll(',"isSpeakerUncertain":false', "");
  expect(older).not.toContain("Uncertain");
  store.$client.run("UPDATE revisions SET changes = ? WHERE number = ?", [older ?? "", typed]);
  correct({ action: "revert", revision: typed });
  correct({ action: "revert", revision: assigned });
  expect(shown()).toEqual(texts.map((text, index) => `${"ABC"[speakers[index] ?? 0]}: ${text}`));
});
