import { expect, test } from "bun:test";
import { assignFragments, assignWindow } from "../../../src/speech/diarization/assign.ts";
import { averageLinkage, joinSimilar, mergeDown, type VoiceGroup } from "../../../src/speech/diarization/linkage.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";

/** A direction, in degrees: cosines are those of the angles between. */
function at(degrees: number): Float32Array {
  const angle = (degrees / 180) * Math.PI;
  return Float32Array.of(Math.cos(angle), Math.sin(angle));
}

const group = (degrees: number, seconds = 1): VoiceGroup => ({
  sum: at(degrees).map((value) => value * seconds),
  seconds,
});

const seconds = (groups: readonly VoiceGroup[]) => groups.map((one) => one.seconds).sort((a, b) => a - b);

test("voices are merged in order of similarity, down to a threshold or a number of groups", () => {
  const groups = [group(0, 1), group(90, 2), group(10, 4), group(100, 8), group(40, 16)];
  const merges = averageLinkage(groups);
  const similarities = merges.map((merge) => merge.similarity);
  expect(similarities).toEqual([...similarities].sort((a, b) => b - a));
  expect(similarities[0]).toBeCloseTo(Math.cos(Math.PI / 18), 5);
  expect(seconds(mergeDown(groups, merges, 0.95, 5))).toEqual([5, 10, 16]);
  expect(seconds(mergeDown(groups, merges, 0.95, 2))).toEqual([10, 21]);
  expect(seconds(mergeDown(groups, merges, -1, 5))).toEqual([31]);
});

test("a voice of three seconds weighs as much as three voices of one second", () => {
  const one = averageLinkage([group(0, 3), group(30), group(70)]);
  const three = averageLinkage([group(0), group(0), group(0), group(30), group(70)]);
  expect(one.at(-1)?.similarity).toBeCloseTo(three.at(-1)?.similarity ?? 0, 5);
});

test("no voice and a single voice have no merges", () => {
  expect(averageLinkage([])).toEqual([]);
  expect(mergeDown([], [], 0, 5)).toEqual([]);
  expect(seconds(mergeDown([group(5)], averageLinkage([group(5)]), 0, 5))).toEqual([1]);
  expect(joinSimilar([], () => 0.5)).toEqual([]);
});

test("groups with similar means are merged step by step, and others are not", () => {
  expect(seconds(joinSimilar([group(0, 1), group(20, 2), group(38, 4), group(120, 8)], () => 0.8))).toEqual([7, 8]);
  expect(seconds(joinSimilar([group(0, 1), group(90, 2)], () => 0.8))).toEqual([1, 2]);
});

test("the threshold for means can depend on the shorter speech duration", () => {
  const groups = [group(0, 9), group(45, 1), group(100, 5)];
  expect(seconds(joinSimilar(groups, (behind) => (behind < 2 ? 0.5 : 0.7)))).toEqual([5, 10]);
});

function voice(local: number, cleanFrames: number, ...directions: number[]): Voice {
  const fragments = directions.map((degrees, index) => ({
    start: index * 90,
    end: index * 90 + 90,
    embedding: at(degrees),
  }));
  return { window: 0, local, cleanFrames, fragments };
}

const speakers = [at(0), at(90)];

test("two voices of one window are two people, and the clearer one decides", () => {
  expect(assignWindow([voice(0, 200, 10), voice(1, 200, 20)], speakers)).toEqual([0, 1]);
  expect(assignWindow([voice(0, 0, 1), voice(1, 200, 30)], speakers)).toEqual([1, 0]);
});

test("a voice without a free speaker is assigned to nobody", () => {
  expect(assignWindow([voice(0, 200, 10), voice(1, 200, 80), voice(2, 20, 45)], speakers)).toEqual([0, 1, -1]);
  expect(assignWindow([], speakers)).toEqual([]);
});

test("a fragment is reassigned only if it is much more similar to another speaker", () => {
  expect(assignFragments(voice(0, 200, 0, 90, 50), 0, speakers)).toEqual([0, 1, 0]);
  expect(assignFragments(voice(0, 200, 0, 90), -1, speakers)).toEqual([-1, -1]);
});
