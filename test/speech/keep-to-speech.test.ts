import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { keepToSpeech } from "../../src/speech/place-words.ts";
import { soundAt } from "../engine/sound-at.ts";

const chunk = {
  startSeconds: 100,
  endSeconds: 106,
  speech: [
    { startSeconds: 100.2, endSeconds: 102 },
    { startSeconds: 103.5, endSeconds: 105.8 },
  ],
};

type Times = readonly [number, number];

/** Sound in these stretches of the recording. */
function heardAt(...stretches: readonly Times[]): Float32Array {
  return soundAt(
    6,
    ...stretches.map(([start, end]) => [start - chunk.startSeconds, end - chunk.startSeconds] as const),
  );
}

const noise = heardAt([100, 106]);

function kept(words: readonly Times[], samples: Float32Array, speech: readonly Times[] | null = null): number[][] {
  const spans = words.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
  const heard = speech?.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds })) ?? chunk.speech;
  return keepToSpeech(spans, { ...chunk, speech: heard }, samples).map(({ startSeconds, endSeconds }) => [
    Number(startSeconds.toFixed(2)),
    Number(endSeconds.toFixed(2)),
  ]);
}

describe("in noise without detectable pauses, a word", () => {
  test.each<[string, Times[], number[][]]>([
    [
      "in speech stays",
      [
        [100.5, 101],
        [104, 105],
      ],
      [
        [100.5, 101],
        [104, 105],
      ],
    ],
    ["that reaches into silence ends with its speech", [[101.5, 103.1]], [[101.5, 102]]],
    ["that begins in silence begins with its speech", [[102.8, 104]], [[103.5, 104]]],
    ["over a silence keeps its greater part", [[101.9, 104]], [[103.5, 104]]],
    [
      "in a silence lies right after it, before the next",
      [
        [102.4, 103],
        [103.5, 104],
      ],
      [
        [103.5, 103.52],
        [103.52, 104],
      ],
    ],
    [
      "after the last speech ends with it",
      [
        [105.4, 105.7],
        [105.85, 106],
      ],
      [
        [105.4, 105.7],
        [105.78, 105.8],
      ],
    ],
    ["before the first speech begins with it", [[100, 100.6]], [[100.2, 100.6]]],
  ])("%s", (_, words, expected) => {
    expect(kept(words, noise)).toEqual(expected);
  });
});

describe("with detectable pauses, speech extends as far as its sound", () => {
  const words: readonly Times[] = [
    [103.2, 104],
    [105.9, 106],
  ];
  test("where detection was late", () => {
    expect(kept(words, heardAt([100.2, 102], [103.2, 106]))).toEqual([
      [103.2, 104],
      [105.9, 106],
    ]);
  });

  test("but not to a separate sound, nor further than half a second", () => {
    expect(
      kept(
        [
          [102.5, 102.6],
          [103.5, 104],
        ],
        heardAt([100.2, 102], [102.5, 102.6], [103.5, 105.8]),
      ),
    ).toEqual([
      [103.5, 103.52],
      [103.52, 104],
    ]);
    expect(kept([[102.3, 104]], heardAt([100.2, 102], [102.3, 105.8]))).toEqual([[103, 104]]);
  });
});

test("words stay in order, disjoint and in speech, however many there are", () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 200; round++) {
    const words: Times[] = [];
    for (let at = 100; at < 106 && words.length < 300; ) {
      const end = Math.min(106, at + random() ** 4);
      words.push([at, end]);
      at = end + random() ** 6;
    }
    const spans = words.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
    let reached = 100;
    for (const { startSeconds, endSeconds } of keepToSpeech(spans, chunk, noise)) {
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
  expect(
    kept(
      [
        [100, 101],
        [102.4, 103],
      ],
      noise,
      [],
    ),
  ).toEqual([
    [100, 101],
    [102.4, 103],
  ]);
  expect(kept([], noise)).toEqual([]);
});
