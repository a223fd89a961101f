import { expect, test } from "bun:test";
import { findUnheard } from "../../../src/engine/transcription/unheard.ts";
import { soundAt, spread } from "./support.ts";

const before = spread("a sentence that was heard", 0.5, 3);
const after = spread("another one that was heard", 9, 11.5);

test("sound that words cover, and silence that they leave, are no loss", () => {
  const words = [...before, ...after];
  expect(findUnheard(soundAt(12, [0.5, 3], [9, 11.5]), words)).toEqual([]);
});

test("a sentence that was left out is found", () => {
  const found = findUnheard(soundAt(12, [0.5, 3], [3.5, 8.5], [9, 11.5]), [...before, ...after]);
  expect(found).toHaveLength(1);
  expect(found[0]?.startSeconds).toBeLessThan(3.5);
  expect(found[0]?.endSeconds).toBeGreaterThan(8);
});

test("words next to it that were spread over its time do not hide it", () => {
  const spreadOut = spread("You don't", 4, 8.5);
  expect(findUnheard(soundAt(12, [0.5, 3], [3.5, 8.5], [9, 11.5]), [...before, ...spreadOut, ...after])).toHaveLength(
    1,
  );
});

test("a cough of a second is no sentence", () => {
  expect(findUnheard(soundAt(12, [0.5, 3], [5, 6], [9, 11.5]), [...before, ...after])).toEqual([]);
});

test("nothing is found where sound can't be told from silence", () => {
  expect(findUnheard(soundAt(12, [0, 12]), before)).toEqual([]);
});
