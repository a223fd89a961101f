import { expect, test } from "bun:test";
import { frameSeconds } from "../../../src/blocks/index.ts";
import { TurnFinder } from "../../../src/speech/diarization/turns.ts";

/** A line per speaker, a letter per 0.1 s (6 frames): `#` speaks, `.` does not. Turns as [start, end, speaker] in tenths. */
function turnsOf(...lines: string[]): number[][] {
  const finder = new TurnFinder(lines.length, 1000);
  const length = Math.max(...lines.map((line) => line.length));
  for (let frame = 0; frame < length * 6; frame++) {
    finder.add(
      frame,
      Float64Array.from(lines, (line) => (line[Math.floor(frame / 6)] === "#" ? 0.9 : 0.1)),
    );
  }
  const tenth = (seconds: number) => Math.round((seconds - frameSeconds(0)) / (frameSeconds(6) - frameSeconds(0)));
  return finder.end().map(({ startSeconds, endSeconds, speaker }) => [tenth(startSeconds), tenth(endSeconds), speaker]);
}

test("a short pause belongs to the turn", () => {
  expect(turnsOf("..####....###...")).toEqual([[2, 13, 0]]);
});

test("a longer pause belongs to the turn only while nobody else speaks", () => {
  expect(turnsOf("..####.........###...", ".....................")).toEqual([[2, 18, 0]]);
  expect(turnsOf("..####.........###...", "........###..........")).toEqual([
    [2, 6, 0],
    [8, 11, 1],
    [15, 18, 0],
  ]);
});

test("a long pause ends the turn", () => {
  expect(turnsOf("..####..............###")).toEqual([
    [2, 6, 0],
    [20, 23, 0],
  ]);
});

test("overlapped speech belongs to both speakers", () => {
  expect(turnsOf(".######.....", "....########")).toEqual([
    [1, 7, 0],
    [4, 12, 1],
  ]);
});

test("speakers are numbered in order of first appearance, and one without speech has no number", () => {
  expect(turnsOf("..........####", "..............", "..###.........")).toEqual([
    [2, 5, 0],
    [10, 14, 1],
  ]);
});
