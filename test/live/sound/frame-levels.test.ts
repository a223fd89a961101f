import { describe, expect, test } from "bun:test";
import { FRAME_SAMPLES } from "../../../src/blocks/index.ts";
import { FrameLevels } from "../../../src/live/sound/index.ts";

const frame = (amplitude: number) => new Int16Array(FRAME_SAMPLES).fill(amplitude);

describe("the levels of frames", () => {
  test("are those of the samples, however they arrive", () => {
    const levels = new FrameLevels(10);
    levels.add(frame(3277).subarray(0, 100));
    levels.add(frame(3277).subarray(100));
    levels.add(Int16Array.from([...frame(0), ...frame(328)]));
    expect([0, 1, 2].map((at) => Math.round(levels.decibels(at)))).toEqual([-20, -100, -40]);
  });

  test("show digital silence and dither, and nothing that may be speech", () => {
    const levels = new FrameLevels(10);
    for (const amplitude of [0, 1, 33, 3000]) levels.add(frame(amplitude));
    expect([0, 1, 2, 3].map((at) => levels.isSilent(at))).toEqual([true, true, false, false]);
  });

  test("are not known for frames that are too old, or are yet to come, which may therefore have speech", () => {
    const levels = new FrameLevels(3);
    for (let at = 0; at < 5; at++) levels.add(frame(0));
    expect([0, 1, 2, 3, 4, 5].map((at) => levels.isSilent(at))).toEqual([false, false, true, true, true, false]);
  });

  test("are not known for the sound of an earlier process", () => {
    const levels = new FrameLevels(10, 2 * FRAME_SAMPLES + 5);
    levels.add(new Int16Array(FRAME_SAMPLES * 3));
    expect([1, 2, 3, 4].map((at) => levels.isSilent(at))).toEqual([false, false, true, true]);
  });
});
