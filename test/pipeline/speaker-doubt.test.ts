import { expect, test } from "bun:test";
import { SpeakerDoubt } from "../../src/pipeline/speaker-doubt.ts";
import { turn } from "../support/spans.ts";

/** Fragments of two speakers, with these margins. */
const compared = [
  { ...turn(0, 2, 0), margin: 0.6 },
  { ...turn(2, 4, 1), margin: 0.05 },
  { ...turn(5, 6, 1), margin: 0.5 },
  { ...turn(6, 9, 0), margin: 0.4 },
];
const segment = (startSeconds: number, endSeconds: number, speaker: number) => {
  return { index: 0, startSeconds, endSeconds, speaker, text: "yes", words: [] };
};

test.each([
  ["has its speaker's voice", segment(0, 2, 0), false],
  ["has a voice that is nearly as similar to another speaker's", segment(2, 4, 1), true],
  ["has another speaker's voice", segment(0, 2, 1), true],
  ["is longer than its uncertain fragment", segment(0, 2.5, 0), false],
  ["is mostly an uncertain fragment", segment(1.8, 4, 1), true],
  ["has a small part with another speaker's voice", segment(5, 9, 0), true],
  ["was not compared, in a pause", segment(4, 5, 0), false],
  ["was not compared, at the end", segment(10, 11, 0), false],
])("the speaker of a segment that %s is uncertain or not", (_, one, isUncertain) => {
  expect(new SpeakerDoubt({ compared }).isUncertain(one)).toBe(isUncertain);
});
