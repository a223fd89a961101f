import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { keepToSpeech } from "../../src/speech/place-words.ts";
import type { Span } from "../../src/timeline/index.ts";
import { rounded, spans } from "../support/spans.ts";
import { soundAt } from "./sound-at.ts";

const chunk = { startSeconds: 100, endSeconds: 106, speech: spans([100.2, 102], [103.5, 105.8]) };

/** Sound in these spans of the recording. */
const heardAt = (...times: (readonly [number, number])[]): Float32Array =>
  soundAt(6, ...times.map(([start, end]) => [start - chunk.startSeconds, end - chunk.startSeconds] as const));

const noise = heardAt([100, 106]);

const kept = (words: readonly Span[], samples: Float32Array, speech = chunk.speech): Span[] =>
  rounded(keepToSpeech(words, { ...chunk, speech }, samples), 2);

describe("in noise without detectable pauses, a word", () => {
  test.each<[string, Span[], Span[]]>([
    ["in speech stays", spans([100.5, 101], [104, 105]), spans([100.5, 101], [104, 105])],
    ["that reaches into silence ends with its speech", spans([101.5, 103.1]), spans([101.5, 102])],
    ["that begins in silence begins with its speech", spans([102.8, 104]), spans([103.5, 104])],
    ["over a silence keeps its greater part", spans([101.9, 104]), spans([103.5, 104])],
    [
      "in a silence lies right after it, before the next",
      spans([102.4, 103], [103.5, 104]),
      spans([103.5, 103.52], [103.52, 104]),
    ],
    [
      "after the last speech ends with it",
      spans([105.4, 105.7], [105.85, 106]),
      spans([105.4, 105.7], [105.78, 105.8]),
    ],
    ["before the first speech begins with it", spans([100, 100.6]), spans([100.2, 100.6])],
  ])("%s", (_, words, expected) => {
    expect(kept(words, noise)).toEqual(expected);
  });
});

describe("with detectable pauses, speech extends as far as its sound", () => {
  const words = spans([103.2, 104], [105.9, 106]);
  test("where detection was late", () => {
    expect(kept(words, heardAt([100.2, 102], [103.2, 106]))).toEqual(words);
  });

  test("but not to a separate sound, nor further than half a second", () => {
    expect(kept(spans([102.5, 102.6], [103.5, 104]), heardAt([100.2, 102], [102.5, 102.6], [103.5, 105.8]))).toEqual(
      spans([103.5, 103.52], [103.52, 104]),
    );
    expect(kept(spans([102.3, 104]), heardAt([100.2, 102], [102.3, 105.8]))).toEqual(spans([103, 104]));
  });
});

test("words stay in order, disjoint and in speech, however many there are", () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 200; round++) {
    const words: Span[] = [];
    for (let at = 100; at < 106 && words.length < 300; ) {
      const end = Math.min(106, at + random() ** 4);
      words.push({ startSeconds: at, endSeconds: end });
      at = end + random() ** 6;
    }
    let reached = 100;
    for (const { startSeconds, endSeconds } of keepToSpeech(words, chunk, noise)) {
      expect(startSeconds).toBeGreaterThanOrEqual(reached - 1e-9);
      expect(endSeconds).toBeGreaterThan(startSeconds);
      const isInside = chunk.speech.some(
        (one) => startSeconds >= one.startSeconds - 1e-9 && endSeconds <= one.endSeconds + 1e-9,
      );
      expect(isInside).toBe(true);
      reached = endSeconds;
    }
  }
});

test("a chunk without known speech is speech as a whole", () => {
  const words = spans([100, 101], [102.4, 103]);
  expect(kept(words, noise, [])).toEqual(words);
  expect(kept([], noise)).toEqual([]);
});
