import { expect, test } from "bun:test";
import { packSegment } from "../../src/segments/index.ts";

const segment = { index: 0, startSeconds: 1, endSeconds: 2, speaker: 0, text: "A word." };
const word = { text: " word", startSeconds: 1.0004, endSeconds: 1.2506, probability: 0.98765 };

test("a stored word has its times in milliseconds, a probability of three places, and a mark if it is not calibrated", () => {
  const words = [word, { ...word, isCalibrated: false as const }];
  const packed = packSegment({ ...segment, words });
  expect(packed).toEqual({ ...segment, words: expect.any(String) });
  expect(JSON.parse(packed.words)).toEqual([
    [" word", 1000, 1251, 0.988],
    [" word", 1000, 1251, 0.988, false],
  ]);
});

test("a segment whose words are stored already is not changed", () => {
  const packed = packSegment({ ...segment, words: [word] });
  expect(packSegment(packed)).toEqual(packed);
});
