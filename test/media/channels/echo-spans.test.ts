import { describe, expect, test } from "bun:test";
import { type BlockSpan, echoSpans } from "../../../src/media/channels/echo-spans.ts";
import { BLOCKS_PER_SECOND } from "../../../src/media/channels/levels.ts";
import { heard, levelsOf, noise, type Powers, voice } from "./voices.ts";

const seconds = 60;
const own = voice(1, seconds, [
  [1, 12],
  [20, 33],
  [45, 50],
]);
const other = voice(2, seconds, [
  [10, 21],
  [34, 44],
  [51, 59],
]);
const hiss = noise(3, seconds, -75);

/** Part of the blocks in which somebody is to be heard that lie in the stretches. */
function partIn(stretches: readonly BlockSpan[], who: Powers, counts: (block: number) => boolean): number {
  const blocks = [...who.keys()].filter((block) => (who[block] ?? 0) > 1e-6 && counts(block));
  const within = blocks.filter((block) => stretches.some(({ start, end }) => block >= start && block < end));
  return within.length / blocks.length;
}

const isQuiet = (who: Powers) => (block: number) =>
  who
    .subarray(Math.max(0, block - 0.3 * BLOCKS_PER_SECOND), block + 0.3 * BLOCKS_PER_SECOND)
    .every((power) => power === 0);

describe("of a channel is silenced", () => {
  test.each([
    [-15, 0],
    [-20, 4],
    [-25, 12],
    [-30, 1],
    [-20, 20],
  ])("echo of %d dB, %d blocks late, and nothing of its own voice", (decibels, delay) => {
    const echo = heard(other, decibels, delay);
    const stretches = echoSpans(levelsOf(other, hiss), levelsOf(own, echo, hiss));
    expect(partIn(stretches, echo, isQuiet(own))).toBeGreaterThan(0.97);
    expect(partIn(stretches, own, () => true)).toBeLessThan(0.01);
  });

  test("echo that comes on another way after half an hour", () => {
    const half = 1800;
    const turns = [...Array(half / 20).keys()].map((turn) => [turn * 20, turn * 20 + 11] as const);
    const long = [voice(4, half, turns), voice(5, half, turns)] as const;
    const joined = (first: Powers, second: Powers) => Float64Array.from([...first, ...second]);
    const echo = joined(heard(long[0], -15, 2), heard(long[1], -24, 14));
    const stretches = echoSpans(
      levelsOf(joined(long[0], long[1]), noise(6, 2 * half, -60)),
      levelsOf(echo, noise(7, 2 * half, -60)),
    );
    expect(partIn(stretches, echo, () => true)).toBeGreaterThan(0.97);
  });

  test.each([
    ["another voice, however weak", levelsOf(heard(own, -25), noise(8, seconds, -80))],
    [
      "a voice that talks at the same time",
      levelsOf(
        voice(9, seconds, [
          [10, 21],
          [34, 44],
          [51, 59],
        ]),
        hiss,
      ),
    ],
    ["noise", levelsOf(noise(10, seconds, -40))],
    ["silence", levelsOf(new Float64Array(own.length))],
  ])("nothing where there is no echo but %s", (_, levels) => {
    expect(echoSpans(levelsOf(other, hiss), levels)).toEqual([]);
  });

  test("nothing of nothing", () => {
    expect(echoSpans(new Uint8Array(0), new Uint8Array(0))).toEqual([]);
    expect(echoSpans(new Uint8Array(3), new Uint8Array(3))).toEqual([]);
  });
});
