import { expect, test } from "bun:test";
import { missingSeconds } from "../../../../../src/speech/recognizer/whisper/transcription/missing-words.ts";
import { soundAt } from "../../../sound-at.ts";
import { spread } from "./support.ts";

const before = spread("a sentence that was heard", 0.5, 3);
const after = spread("another one that was heard", 9, 11.5);

test("sound with words and silence without words count as complete", () => {
  const later = spread("another one that was heard", 4.5, 7);
  expect(missingSeconds(soundAt(8, [0.5, 3], [4.5, 7]), [...before, ...later])).toBe(0);
});

test("an omitted sentence is found", () => {
  const left = missingSeconds(soundAt(12, [0.5, 3], [3.5, 8.5], [9, 11.5]), [...before, ...after]);
  expect(left).toBeGreaterThan(4);
});

test("words that are spread over an omitted sentence do not hide it", () => {
  const words = [...before, ...spread("You don't", 4, 8.5), ...after];
  expect(missingSeconds(soundAt(12, [0.5, 3], [3.5, 8.5], [9, 11.5]), words)).toBeGreaterThan(4);
});

test("a cough of a second does not count as a sentence", () => {
  const later = spread("another one that was heard", 5, 7.5);
  expect(missingSeconds(soundAt(8, [0.5, 3], [3.3, 4.3], [5, 7.5]), [...before, ...later])).toBe(0);
});

test("an omitted sentence that is far quieter or in noise is found", () => {
  const quiet = soundAt(12, [0.5, 3], [9, 11.5]).map((sample, at) =>
    at > 56_000 && at < 136_000 ? sample * 10 : sample,
  );
  expect(missingSeconds(quiet, [...before, ...after])).toBeGreaterThan(3);
  expect(missingSeconds(soundAt(12, [0, 12]), [...before, ...after])).toBeGreaterThan(3);
});

test.each([
  ["begins", soundAt(5.5, [0.2, 1.6], [2, 5]), spread("a sentence that was heard", 2, 5)],
  ["ends", soundAt(5.9, [0.5, 3.5], [4, 5.4]), spread("a sentence that was heard", 0.5, 3.5)],
])("a few omitted words where a chunk %s are found", (_, samples, words) => {
  expect(missingSeconds(samples, words)).toBeWithin(1.2, 1.6);
});

test("a breath at the start and end of a chunk does not count as a word", () => {
  expect(missingSeconds(soundAt(6, [0, 0.8], [1.2, 4], [4.5, 5.3]), spread("a sentence that was heard", 1.2, 4))).toBe(
    0,
  );
});

test("pauses of two seconds do not count as missing words", () => {
  const later = spread("another one that was heard", 5.2, 7.5);
  expect(missingSeconds(soundAt(8, [0.5, 3], [5.2, 7.5]), [...before, ...later])).toBe(0);
  expect(missingSeconds(soundAt(8, [0, 8]), [...before, ...later])).toBe(0);
});
