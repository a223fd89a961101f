import { describe, expect, test } from "bun:test";
import type { TurnRules } from "../../../src/live/index.ts";
import { bestPause } from "../../../src/live/turns/best-pause.ts";
import {
  framesIn,
  lastFrameWithin,
  type PassageChange,
  PassageFinder,
  sampleOf,
  windowEnd,
} from "../../../src/live/turns/index.ts";

const rules: TurnRules = { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 };

/** Adds frames: seconds of a probability of speech, one after the other. @returns the changes */
function find(
  finder: PassageFinder,
  ...parts: readonly (readonly [probability: number, seconds: number, decibels?: number])[]
) {
  const changes: PassageChange[] = [];
  let frame = 0;
  for (const [probability, seconds, decibels = -20] of parts) {
    for (let count = framesIn(seconds); count > 0; count--) {
      const change = finder.add(frame++, { probability, decibels });
      if (change !== null) changes.push(change);
    }
  }
  return changes;
}

const secondsOf = (changes: readonly PassageChange[]) =>
  changes.map(({ type, frame }) => [type, Math.round((sampleOf(frame) / 16_000) * 10) / 10]);

describe("the finder of passages", () => {
  test("starts one before its speech, and ends it after the silence of the rules", () => {
    const found = find(new PassageFinder(rules, 0), [0.1, 2], [0.9, 3], [0.1, 0.4], [0.9, 1], [0.1, 2]);
    expect(secondsOf(found)).toEqual([
      ["started", 1.7],
      ["ended", 6.8],
    ]);
  });

  test("ignores a click, and speech that is never probable enough", () => {
    expect(find(new PassageFinder(rules, 0), [0.1, 1], [0.9, 0.05], [0.1, 1], [0.45, 3], [0.1, 1])).toEqual([]);
  });

  test("continues through speech that is less probable than at its beginning", () => {
    const found = find(new PassageFinder(rules, 0), [0.9, 1], [0.3, 3], [0.9, 1], [0.1, 1]);
    expect(secondsOf(found)).toEqual([
      ["started", 0],
      ["ended", 5.4],
    ]);
  });

  test("has no padding from before the last passage, nor from before a commit", () => {
    const close = find(new PassageFinder({ ...rules, paddingSeconds: 3 }, 0), [0.9, 1], [0.1, 0.6], [0.9, 1]);
    expect(secondsOf(close)).toEqual([
      ["started", 0],
      ["ended", 1.4],
      ["started", 1.4],
    ]);
    const finder = new PassageFinder(rules, 0);
    finder.restart(framesIn(1.9));
    expect(secondsOf(find(finder, [0.1, 2], [0.9, 1]))).toEqual([["started", 1.9]]);
  });

  test("ends a long passage at a short pause, which a short one continues over", () => {
    const pause = [0.1, 0.3] as const;
    const found = find(new PassageFinder(rules, 0), [0.9, 8], pause, [0.9, 14], pause, [0.9, 2]);
    expect(secondsOf(found)).toEqual([
      ["started", 0],
      ["ended", 22.5],
      ["started", 22.5],
    ]);
  });

  test("cuts speech without a pause where it is weakest, and not where words are final", () => {
    const parts = [
      [0.9, 16],
      [0.9, 0.2, -50],
      [0.9, 20],
    ] as const;
    expect(find(new PassageFinder(rules, 0), ...parts)).toEqual([
      { type: "started", frame: 0 },
      { type: "ended", frame: expect.any(Number), isCut: true },
    ]);
    expect(secondsOf(find(new PassageFinder(rules, 0), ...parts))[1]).toEqual(["ended", 16.1]);
    const finder = new PassageFinder(rules, 0);
    let cut = 0;
    for (let frame = 0; cut === 0; frame++) {
      const isWeak = frame > framesIn(16) && frame < framesIn(16.2);
      const change = finder.add(frame, { probability: 0.9, decibels: isWeak ? -50 : -20 }, framesIn(20));
      if (change?.type === "ended") cut = change.frame;
    }
    expect(cut).toBeGreaterThanOrEqual(framesIn(20));
    expect(cut).toBeLessThanOrEqual(framesIn(25));
  });

  test("uses changed rules from the next passage on", () => {
    const finder = new PassageFinder(rules, 0);
    for (let frame = 0; frame < framesIn(1); frame++) finder.add(frame, { probability: 0.9, decibels: -20 });
    finder.setRules({ ...rules, threshold: 0.95 });
    const changes: string[] = [];
    for (let frame = framesIn(1); frame < framesIn(6); frame++) {
      const isSpeech = frame > framesIn(3);
      const change = finder.add(frame, { probability: isSpeech ? 0.9 : 0.1, decibels: -20 });
      if (change !== null) changes.push(change.type);
    }
    expect(changes).toEqual(["ended"]);
  });
});

test("the best pause is the weakest place, and the later one of equal places", () => {
  const strong = { probability: 1, decibels: -20 };
  const frames = Array.from({ length: 300 }, () => strong);
  expect(bestPause(frames, 10)).toBe(300 - 6);
  for (let at = 100; at < 120; at++) frames[at] = { probability: 1, decibels: -45 };
  for (let at = 200; at < 210; at++) frames[at] = { probability: 0.9, decibels: -25 };
  expect(bestPause(frames, 10)).toBeGreaterThan(104);
  expect(bestPause(frames, 10)).toBeLessThan(116);
  expect(bestPause(frames, 150)).toBeGreaterThan(200);
  expect(bestPause(frames.slice(0, 3), 2)).toBe(2);
});

test("the frames of a detection's window lie on the grid of the session", () => {
  for (const endFrame of [1, 12, 293, 1000, 123_456]) {
    const end = windowEnd(endFrame);
    expect(end).toBeGreaterThan(0);
    expect(lastFrameWithin(end)).toBe(endFrame);
    expect(lastFrameWithin(end - 1)).toBe(endFrame - 1);
    expect(end).toBeGreaterThanOrEqual(sampleOf(endFrame));
  }
});
