import { expect, test } from "bun:test";
import { evidenceForTwo } from "../../../src/engine/diarization/evidence.ts";
import { mergeGroups, type VoiceGroup } from "../../../src/engine/diarization/merge.ts";
import { clustersAt, clustersOf, wardMerges } from "../../../src/engine/diarization/ward.ts";

const point = (x: number, y: number, weight = 1) => ({ vector: Float32Array.of(x, y), weight });

test("Ward's method joins what is near, cheapest first", () => {
  const points = [point(0, 0), point(10, 0), point(0, 1), point(10, 1.5), point(0, 5)];
  const merges = wardMerges(points);
  const costs = merges.map((merge) => merge.cost);
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
  expect(costs[0]).toBeCloseTo(1, 5);
  expect(clustersAt(merges, points.length, 2)).toEqual([0, 1, 0, 1, 2]);
  expect(clustersOf(merges, points.length, 2)).toEqual([0, 1, 0, 1, 0]);
  expect(clustersOf(merges, points.length, 1)).toEqual([0, 0, 0, 0, 0]);
});

test("a point of weight three costs what three equal points cost", () => {
  const apart = wardMerges([point(0, 0), point(0, 0), point(0, 0), point(4, 0)]).at(-1)?.cost;
  expect(wardMerges([point(0, 0, 3), point(4, 0)])[0]?.cost).toBeCloseTo(apart ?? 0, 5);
});

test("no point and one point have nothing to merge", () => {
  expect(wardMerges([])).toEqual([]);
  expect(clustersAt(wardMerges([point(1, 1)]), 1, 2)).toEqual([0]);
});

const even = { distance: 0.4, lessSeconds: 5, moreSeconds: 5, apart: 0, same: 0, lessVoices: 8 };
const changes: [string, Partial<typeof even>, "more" | "less"][] = [
  ["a greater distance", { distance: 0.5 }, "more"],
  ["the same distance between more speech", { lessSeconds: 20, moreSeconds: 20 }, "more"],
  ["being heard as two in one window", { apart: 4 }, "more"],
  ["being heard as one in overlapping windows", { same: 4 }, "less"],
];
for (const [what, change, direction] of changes) {
  test(`${what} speaks ${direction} for two people`, () => {
    const difference = evidenceForTwo({ ...even, ...change }) - evidenceForTwo(even);
    expect(Math.sign(difference)).toBe(direction === "more" ? 1 : -1);
  });
}

/** A voice at an angle, with `seconds` of speech. */
function group(degrees: number, seconds: number): VoiceGroup {
  const angle = (degrees / 180) * Math.PI;
  const voices = Math.round(seconds);
  return { sum: Float32Array.of(Math.cos(angle) * voices, Math.sin(angle) * voices), voices, seconds };
}

test("voices that are far apart stay apart, near ones become one, and their speech adds up", () => {
  const merged = mergeGroups([group(0, 10), group(15, 8), group(90, 5)], [], []);
  expect(merged.map(({ seconds }) => seconds)).toEqual([18, 5]);
});

test("alike voices that the segmentation model told apart stay two", () => {
  const groups = [group(0, 10), group(45, 10)];
  const apart = Array.from({ length: 12 }, () => ({ a: 0, b: 1 }));
  expect(mergeGroups(groups, [], []).length).toBe(1);
  expect(mergeGroups(groups, [], apart).length).toBe(2);
});

test("a given count is obeyed", () => {
  expect(mergeGroups([group(0, 10), group(80, 8), group(90, 5)], [], [], 2).map(({ seconds }) => seconds)).toEqual([
    10, 13,
  ]);
  expect(mergeGroups([group(0, 10)], [], [], 3).length).toBe(1);
});
