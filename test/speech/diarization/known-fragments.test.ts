import { expect, test } from "bun:test";
import { KnownFragments } from "../../../src/speech/diarization/embed-block.ts";

const known = () => {
  const fragments = new KnownFragments();
  fragments.add({ start: 100, end: 180 }, 0);
  fragments.add({ start: 180, end: 270 }, 1);
  fragments.add({ start: 190, end: 270 }, 2);
  return fragments;
};

test.each([
  ["the same frames", { start: 100, end: 180 }, 0],
  ["a little more at both ends", { start: 95, end: 184 }, 0],
  ["what is nearly the same as two, like the nearer one", { start: 188, end: 272 }, 2],
  ["seven tenths of it", { start: 100, end: 156 }, 0],
])("a fragment of %s is known", (_name, fragment, number) => {
  expect(known().numberOf(fragment)).toBe(number);
});

test.each([
  ["less than seven tenths of a known one", { start: 100, end: 155 }],
  ["much more than a known one", { start: 60, end: 185 }],
  ["two known ones together", { start: 100, end: 270 }],
  ["what begins where a known one ends", { start: 270, end: 360 }],
])("a fragment of %s is not", (_name, fragment) => {
  expect(known().numberOf(fragment)).toBeUndefined();
});
