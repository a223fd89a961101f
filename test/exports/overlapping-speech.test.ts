import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import type { ExportFormat, ExportSegment } from "../../src/exports/index.ts";
import { CUE_LIMITS } from "../../src/exports/split-cues.ts";
import { exportedText, segment, transcript } from "../support/transcripts.ts";

setDefaultTimeout(60_000);

/** Maximum distance of a cue from its words. */
const NEAR_MILLISECONDS = 100;
/** Time for which a short cue is shown, unless another one starts. */
const READABLE_MILLISECONDS = 1_000;

interface ShownCue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

async function exported(format: ExportFormat, segments: readonly ExportSegment[]): Promise<string> {
  return await exportedText(format, transcript([], { segments, durationSeconds: 60 }));
}

function millisecondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.replace(",", ".").split(":").map(Number);
  return Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
}

/** Returns the cues of a SubRip or WebVTT file, and checks its form. */
function cuesIn(format: "srt" | "vtt", file: string): ShownCue[] {
  const blocks = file.trim().split("\n\n");
  if (format === "vtt") expect(blocks.shift()).toBe("WEBVTT");
  return blocks.map((block, index) => {
    const lines = block.split("\n");
    if (format === "srt") expect(lines.shift()).toBe(String(index + 1));
    const [start = "", end = ""] = lines.shift()?.split(" --> ") ?? [];
    const text = lines.join(" ").replace(/^<v [^>]*>/, "");
    return { start: millisecondsOf(start), end: millisecondsOf(end), text };
  });
}

async function cuesOf(format: "srt" | "vtt", segments: readonly ExportSegment[]): Promise<ShownCue[]> {
  return cuesIn(format, await exported(format, segments));
}

/** Returns a segment with the words at these times in milliseconds, as `[text, start, end]`. */
function said(speaker: number, span: readonly [number, number], ...words: readonly [string, number, number][]) {
  const [startMilliseconds, endMilliseconds] = span;
  const text = words.map(([word]) => word).join(" ");
  return {
    ...{ startMilliseconds, endMilliseconds, speaker, text },
    words: words.map(([word, start, end]): ExportSegment["words"][number] => [` ${word}`, start, end, 1]),
  };
}

/** Expects each cue at its words, in order of time, and each word once. */
function expectAtWords(cues: readonly ShownCue[], segments: readonly ExportSegment[]): void {
  const times = new Map<string, { readonly start: number; readonly end: number; readonly isKnown: boolean }>();
  for (const { text, words, startMilliseconds, endMilliseconds } of segments) {
    for (const word of text.split(" ")) {
      times.set(word, { start: startMilliseconds, end: endMilliseconds, isKnown: false });
    }
    for (const [word, start, end] of words) {
      if (times.has(word.trim())) times.set(word.trim(), { start, end, isKnown: true });
    }
  }
  const shown = cues.flatMap(({ text }) => text.split(" "));
  expect(shown.toSorted()).toEqual([...times.keys()].filter((word) => word !== "").sort());
  for (const [index, { start, end, text }] of cues.entries()) {
    const words = text.split(" ").flatMap((word) => times.get(word) ?? []);
    const known = words.filter(({ isKnown }) => isKnown);
    const first = Math.min(...words.map((word) => word.start));
    const last = Math.max(...words.map((word) => word.end));
    const next = cues[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    expect(end).toBeGreaterThan(start);
    expect(start).toBeLessThanOrEqual(next);
    if (known.length === words.length) {
      expect(Math.abs(start - first)).toBeLessThanOrEqual(NEAR_MILLISECONDS);
      expect(end).toBeGreaterThanOrEqual(Math.min(last, start + CUE_LIMITS.milliseconds) - NEAR_MILLISECONDS);
    }
    expect(start).toBeGreaterThanOrEqual(first - NEAR_MILLISECONDS);
    expect(start).toBeLessThanOrEqual(last + NEAR_MILLISECONDS);
    // A short cue is longer than its words, until another one starts.
    if (end > last + NEAR_MILLISECONDS) expect(end).toBeLessThanOrEqual(Math.min(next, start + READABLE_MILLISECONDS));
  }
}

const both: readonly ExportSegment[] = [
  said(0, [300, 9_780], ["And", 330, 500], ["so", 500, 900], ["my", 900, 2_110], ["country.", 8_000, 9_780]),
  said(1, [310, 2_110], ["Ask", 330, 700], ["not", 700, 2_110]),
];

describe.each(["srt", "vtt"] as const)("%s", (format) => {
  test("two parties who speak at once have cues that overlap, in order of time", async () => {
    expect(await cuesOf(format, both)).toEqual([
      { start: 330, end: 2_110, text: "And so my" },
      { start: 330, end: 2_110, text: "Ask not" },
      { start: 8_000, end: 9_780, text: "country." },
    ]);
  });

  test("a short answer within a long segment stands between the cues of that segment", async () => {
    const long = said(0, [0, 30_000], ["One.", 0, 2_000], ["Two.", 10_000, 12_000], ["Three.", 20_000, 22_000]);
    const cues = await cuesOf(format, [long, said(1, [5_000, 6_000], ["Yes.", 5_000, 6_000])]);
    expect(cues.map(({ start, text }) => [start, text])).toEqual([
      [0, "One."],
      [5_000, "Yes."],
      [10_000, "Two."],
      [20_000, "Three."],
    ]);
  });

  test("the words of segments that a person has joined stay at their times", async () => {
    const [mine, yours] = both as [ExportSegment, ExportSegment];
    const joined = { ...mine, text: `${mine.text} ${yours.text}`, words: [...mine.words, ...yours.words] };
    expect(await cuesOf(format, [joined])).toEqual(await cuesOf(format, both));
  });

  test("a speaker to whom a person has assigned both parties has cues that overlap", async () => {
    const own = both.map((each) => ({ ...each, speaker: 0 }));
    expect(await cuesOf(format, own)).toEqual(await cuesOf(format, both));
  });

  test("an overlap of one speaker's cues that is shorter than a frame is removed", async () => {
    const cues = await cuesOf(format, [segment("One two three.", 0, 4), segment("Four.", 3.97, 6)]);
    expect(cues.map(({ start, end }) => [start, end])).toEqual([
      [0, 4_000],
      [4_000, 6_000],
    ]);
  });

  test("punctuation that no word has is shown with its word", async () => {
    const odd = { ...said(0, [0, 30_000], ["Hello", 20_000, 21_500]), text: "“Hello”…" };
    expect(await cuesOf(format, [odd])).toEqual([{ start: 20_000, end: 21_500, text: "“Hello”…" }]);
  });

  test("every cue is within 0.1 s of its words for every interleaving of segments", async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const segments = interleaved(seed);
      expectAtWords(await cuesOf(format, segments), segments);
    }
  });
});

/** Returns random segments that overlap in every way. No two words are the same. */
function interleaved(seed: number): ExportSegment[] {
  const random = randomNumbers(seed);
  const upTo = (milliseconds: number) => Math.floor(random() * milliseconds);
  const oneOf = <T>(...choices: readonly T[]): T => choices[upTo(choices.length)] as T;
  const speakers = oneOf(1, 2, 2, 3);
  let number = 0;
  let start = 0;
  let last: ExportSegment | undefined;
  const made = Array.from({ length: 2 + upTo(25) }, (): ExportSegment => {
    // Simultaneous, soon, within the last segment, at its end or after a pause.
    start = Math.max(start, oneOf(start, start + upTo(50), start + upTo(3_000), last?.endMilliseconds ?? 0));
    let reached = start + oneOf(0, 0, upTo(400), upTo(20_000));
    const words = Array.from({ length: 1 + upTo(oneOf(2, 8, 40)) }, (): ExportSegment["words"][number] => {
      const from = reached + oneOf(0, 0, upTo(300), upTo(5_000));
      reached = from + oneOf(0, upTo(20), upTo(600), upTo(2_000));
      return [` w${number++}${oneOf("", "", ",", ".")}`, from, reached, 1];
    });
    const text = words
      .map(([word]) => word)
      .join("")
      .trim();
    const endMilliseconds = Math.max(start + 10, reached) + oneOf(0, 0, upTo(300), upTo(30_000));
    const hasWords = random() > 0.1;
    if (random() < 0.1) words.splice(upTo(words.length), 0, ["", start, start, 1], [" ", endMilliseconds, 0, 1]);
    last = { startMilliseconds: start, endMilliseconds, speaker: upTo(speakers), text, words: hasWords ? words : [] };
    return last;
  });
  return corrected(made, random);
}

/** Joins some segments as a correction does: the words keep their times. */
function corrected(segments: readonly ExportSegment[], random: () => number): ExportSegment[] {
  const all: ExportSegment[] = [];
  for (const next of segments) {
    const before = all.at(-1);
    if (before === undefined || before.words.length === 0 || next.words.length === 0 || random() > 0.15) all.push(next);
    else {
      const endMilliseconds = Math.max(before.endMilliseconds, next.endMilliseconds);
      const words = [...before.words, ...next.words];
      all[all.length - 1] = { ...before, endMilliseconds, text: `${before.text} ${next.text}`, words };
    }
  }
  return all;
}

test("lrc: the lines of parties who speak at once are in order of time, one for each segment", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const segments = interleaved(seed);
    const times = [...(await exported("lrc", segments)).matchAll(/^\[(\d+):([\d.]+)\]/gm)];
    const shown = times.map(([, minutes, rest]) => Math.round((Number(minutes) * 60 + Number(rest)) * 1000));
    for (const [index, { startMilliseconds }] of segments.entries()) {
      expect(Math.abs((shown[index] ?? Number.NaN) - startMilliseconds)).toBeLessThanOrEqual(10);
    }
    expect(shown).toHaveLength(segments.length);
  }
});

describe.each(["textgrid", "eaf"] as const)("%s", (format) => {
  /** Returns the annotations that have a text. */
  async function annotationsOf(segments: readonly ExportSegment[]): Promise<ShownCue[]> {
    const file = await exported(format, segments);
    if (format === "textgrid") {
      return [...file.matchAll(/xmin = (\S+) \n {12}xmax = (\S+) \n {12}text = "(.+)" \n/g)].map(
        ([, start, end, text = ""]) => ({ start: Number(start) * 1000, end: Number(end) * 1000, text }),
      );
    }
    const slots = new Map([...file.matchAll(/ID="(ts\d+)" TIME_VALUE="(\d+)"/g)].map(([, id, time]) => [id, time]));
    return [...file.matchAll(/REF1="(\w+)" TIME_SLOT_REF2="(\w+)"><ANNOTATION_VALUE>(.+?)<\/ANNOTATION_VALUE>/g)].map(
      ([, from, to, text = ""]) => ({ start: Number(slots.get(from)), end: Number(slots.get(to)), text }),
    );
  }

  test("every annotation is within 0.1 s of its segment for every interleaving of segments", async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const segments = interleaved(seed).slice(0, 8);
      const annotations = await annotationsOf(segments);
      expect(annotations).toHaveLength(segments.length);
      for (const { text, startMilliseconds, endMilliseconds } of segments) {
        const { start = Number.NaN, end = Number.NaN } = annotations.find((each) => each.text === text) ?? {};
        expect(Math.abs(start - startMilliseconds)).toBeLessThanOrEqual(NEAR_MILLISECONDS);
        expect(Math.abs(end - endMilliseconds)).toBeLessThanOrEqual(NEAR_MILLISECONDS);
      }
    }
  });
});
