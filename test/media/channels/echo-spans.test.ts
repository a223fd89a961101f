import { describe, expect, test } from "bun:test";
import { type BlockSpan, echoSpans } from "../../../src/media/channels/echo-spans.ts";
import { BLOCKS_PER_SECOND } from "../../../src/media/channels/levels.ts";
import { delayed, levelsOf, noise, type Powers, voice } from "./voices.ts";

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

/** Returns the part of a voice's blocks that the spans cover. */
function partIn(spans: readonly BlockSpan[], who: Powers, counts: (block: number) => boolean): number {
  const blocks = [...who.keys()].filter((block) => (who[block] ?? 0) > 1e-6 && counts(block));
  const within = blocks.filter((block) => spans.some(({ start, end }) => block >= start && block < end));
  return within.length / blocks.length;
}

const isQuiet = (who: Powers) => (block: number) =>
  who
    .subarray(Math.max(0, block - 0.3 * BLOCKS_PER_SECOND), block + 0.3 * BLOCKS_PER_SECOND)
    .every((power) => power === 0);

describe("the silenced part of a channel", () => {
  test.each([
    [-15, 0],
    [-20, 4],
    [-25, 12],
    [-30, 1],
    [-20, 20],
  ])("is the echo of %d dB, %d blocks late, without the channel's own voice", (decibels, delay) => {
    const echo = delayed(other, decibels, delay);
    const spans = echoSpans(levelsOf(other, hiss), levelsOf(own, echo, hiss));
    expect(partIn(spans, echo, isQuiet(own))).toBeGreaterThan(0.97);
    expect(partIn(spans, own, () => true)).toBeLessThan(0.01);
  });

  test("is the echo even if its path changes after half an hour", () => {
    const half = 1800;
    const turns = [...Array(half / 20).keys()].map((turn) => [turn * 20, turn * 20 + 11] as const);
    const long = [voice(4, half, turns), voice(5, half, turns)] as const;
    const joined = (first: Powers, second: Powers) => Float64Array.from([...first, ...second]);
    const echo = joined(delayed(long[0], -15, 2), delayed(long[1], -24, 14));
    const spans = echoSpans(
      levelsOf(joined(long[0], long[1]), noise(6, 2 * half, -60)),
      levelsOf(echo, noise(7, 2 * half, -60)),
    );
    expect(partIn(spans, echo, () => true)).toBeGreaterThan(0.97);
  });

  test.each([
    ["another, weak voice", levelsOf(delayed(own, -25), noise(8, seconds, -80))],
    [
      "a simultaneous voice",
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
  ])("is empty without echo: %s", (_, levels) => {
    expect(echoSpans(levelsOf(other, hiss), levels)).toEqual([]);
  });

  test("is empty for empty channels", () => {
    expect(echoSpans(new Uint8Array(0), new Uint8Array(0))).toEqual([]);
    expect(echoSpans(new Uint8Array(3), new Uint8Array(3))).toEqual([]);
  });
});
