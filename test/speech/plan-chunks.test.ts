import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { planChunks, planFinalChunks } from "../../src/speech/plan-chunks.ts";
import { type Chunk, type Span, transcribedSpans } from "../../src/timeline/index.ts";
import { rounded, spans } from "../support/spans.ts";

const seconds = (all: readonly Span[]) => all.reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0);

/** One side of a call: turns of 4 s, and 6 s in which the other party speaks. */
const side = (turns: number) =>
  spans(...Array.from({ length: turns }, (_, turn) => [turn * 10 + 1, turn * 10 + 5] as const));

describe("chunks of one side of a call", () => {
  test("continue over the other party's turns, with only both ends of the silence", () => {
    const [chunk, ...more] = planChunks(side(3), 26, true);
    expect(more).toEqual([]);
    expect(rounded([chunk as Chunk])).toEqual(spans([0.8, 25.2]));
    expect(rounded(transcribedSpans(chunk as Chunk))).toEqual(spans([0.8, 6], [10, 16], [20, 25.2]));
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
    expect(chunks.map(({ speech }) => rounded(speech))).toEqual([spans([1, 5], [6.9, 9]), spans([11.1, 12])]);
    for (const chunk of chunks) expect(rounded(transcribedSpans(chunk))).toEqual(rounded([chunk]));
  });
});

describe("the final chunks of a part of the speech", () => {
  /** Speech of about an hour: mostly short silences, and some around the longest one inside a chunk. */
  const speechOf = (seed: number): Span[] => {
    const random = randomNumbers(seed);
    const regions: Span[] = [];
    for (let at = random(); at < 3600; ) {
      const endSeconds = at + 0.05 + random() * (random() < 0.2 ? 28.9 : 6);
      regions.push({ startSeconds: at, endSeconds });
      const kind = random();
      at =
        endSeconds + (kind < 0.1 ? 0 : kind < 0.2 ? 2 + (random() - 0.5) / 10 : kind < 0.9 ? random() : random() * 20);
    }
    return regions;
  };

  test("are the first chunks of the whole plan, whatever the rest is", () => {
    let finalChunks = 0;
    let allChunks = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomNumbers(seed);
      const regions = speechOf(seed);
      const totalSeconds = (regions.at(-1)?.endSeconds ?? 0) + random() * (seed % 2 === 0 ? 5 : 0.3);
      const whole = planChunks(regions, totalSeconds, false);
      for (let cut = 0; cut < 20; cut++) {
        const count = Math.floor(random() * (regions.length + 1));
        const from = regions[count - 1]?.endSeconds ?? 0;
        const next = regions[count]?.startSeconds ?? totalSeconds;
        for (const knownSeconds of [from, from + random() * (next - from), next]) {
          const final = planFinalChunks(regions.slice(0, count), knownSeconds, totalSeconds);
          expect(final).toEqual(whole.slice(0, final.length));
          finalChunks += final.length;
          allChunks += whole.filter(({ endSeconds }) => endSeconds <= from).length;
        }
      }
    }
    // Only the last known chunk waits for more.
    expect(finalChunks).toBeGreaterThan(0.9 * allChunks);
  });

  test("include the last one as soon as the silence after it is too long to continue it", () => {
    const regions = spans([1, 5], [6, 9]);
    expect(planFinalChunks(regions, 11, 60)).toEqual([]);
    expect(planFinalChunks(regions, 11.1, 60)).toEqual(planChunks(regions, 60, false));
  });
});
