import { describe, expect, test } from "bun:test";
import { planChunks } from "../../src/speech/plan-chunks.ts";
import { transcribedSpans } from "../../src/timeline/chunk-audio.ts";
import type { Chunk, Span } from "../../src/timeline/spans.ts";

const spans = (...all: readonly (readonly [number, number])[]): Span[] =>
  all.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
const rounded = (value: number) => Math.round(value * 1000) / 1000;
const pairs = (all: readonly Span[]) =>
  all.map(({ startSeconds, endSeconds }) => [rounded(startSeconds), rounded(endSeconds)]);
const seconds = (all: readonly Span[]) => all.reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0);

/** One side of a call: turns of 4 s, and 6 s in which the other party speaks. */
const side = (turns: number) =>
  spans(...Array.from({ length: turns }, (_, turn) => [turn * 10 + 1, turn * 10 + 5] as const));

describe("chunks of one side of a call", () => {
  test("continue over the other party's turns, with only both ends of the silence", () => {
    const [chunk, ...more] = planChunks(side(3), 26, true);
    expect(more).toEqual([]);
    expect(pairs([chunk as Chunk])).toEqual([[0.8, 25.2]]);
    expect(pairs(transcribedSpans(chunk as Chunk))).toEqual([
      [0.8, 6],
      [10, 16],
      [20, 25.2],
    ]);
  });

  test("hold all turns of an hour in order, with at most 30 s for the recognizer", () => {
    const turns = side(360);
    const chunks = planChunks(turns, 3600, true);
    expect(chunks.flatMap(({ speech }) => speech)).toEqual(turns);
    expect(Math.max(...chunks.map((chunk) => seconds(transcribedSpans(chunk))))).toBeLessThanOrEqual(30);
    // 360 turns of 4 s and the 2 s around them are 36 minutes: little more than 72 chunks of 30 s.
    expect(chunks.length).toBeLessThan(95);
    for (const [index, chunk] of chunks.slice(1).entries()) {
      expect(chunk.startSeconds).toBeGreaterThanOrEqual(chunks[index]?.endSeconds ?? 0);
    }
    for (const { startSeconds, endSeconds, speech } of chunks) {
      expect(startSeconds).toBeLessThanOrEqual(speech[0]?.startSeconds ?? 0);
      expect(endSeconds).toBeGreaterThanOrEqual(speech.at(-1)?.endSeconds ?? 0);
    }
  });

  test("are none without speech", () => {
    expect(planChunks([], 60, true)).toEqual([]);
  });
});

describe("chunks of a recording", () => {
  test("end at long silences and are transcribed whole", () => {
    const regions = spans([1, 5], [6.9, 9], [11.1, 12]);
    const chunks = planChunks(regions, 20, false);
    expect(chunks.map(({ speech }) => pairs(speech))).toEqual([
      [
        [1, 5],
        [6.9, 9],
      ],
      [[11.1, 12]],
    ]);
    for (const chunk of chunks) expect(pairs(transcribedSpans(chunk))).toEqual(pairs([chunk]));
  });
});
