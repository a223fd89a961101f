import { describe, expect, test } from "bun:test";
import { type ChannelChoice, compareChannels } from "../../../src/media/channels/compare-channels.ts";
import { delayed, levelsOf, noise, type Powers, voice } from "./voices.ts";

const seconds = 60;
const a = voice(1, seconds, [
  [1, 12],
  [20, 33],
  [45, 50],
]);
const b = voice(2, seconds, [
  [12.5, 19],
  [34, 44],
  [51, 59],
]);
const always = [voice(3, seconds, [[0, 60]]), voice(4, seconds, [[0, 60]])] as const;
const hiss = [noise(5, seconds, -60), noise(6, seconds, -55)] as const;
const silent = new Float64Array(a.length);

interface Case {
  readonly what: string;
  readonly left: readonly Powers[];
  readonly right: readonly Powers[];
  readonly correlation: number;
  readonly choice: ChannelChoice;
}

const cases: readonly Case[] = [
  { what: "a party on each", left: [a, hiss[0]], right: [b, hiss[1]], correlation: 0, choice: "apart" },
  { what: "a party on each, in digital silence", left: [a], right: [b], correlation: 0, choice: "apart" },
  {
    what: "a party on each, one of them 20 dB quieter",
    ...{ left: [a, hiss[0]], right: [delayed(b, -20), noise(7, seconds, -70)], correlation: 0, choice: "apart" },
  },
  {
    what: "a party on each, with 15 dB weaker echo of the other",
    left: [a, delayed(b, -15, 6), hiss[0]],
    right: [b, delayed(a, -15, 6), hiss[1]],
    ...{ correlation: 0, choice: "apart" },
  },
  { what: "both parties talking all the time", left: [always[0]], right: [always[1]], correlation: 0, choice: "apart" },
  {
    what: "a voice on the right for only a second",
    ...{ left: [a, hiss[0]], right: [voice(8, seconds, [[14, 15]]), hiss[1]], correlation: 0, choice: "apart" },
  },
  { what: "the same on both", left: [a, b], right: [a, b], correlation: 1, choice: "mixed" },
  {
    what: "the same on both, with independent noise",
    ...{ left: [a, b, hiss[0]], right: [a, b, hiss[1]], correlation: 0.9, choice: "mixed" },
  },
  {
    what: "two microphones in a room, each nearer to one voice",
    left: [a, delayed(b, -5), hiss[0]],
    right: [b, delayed(a, -5), hiss[1]],
    ...{ correlation: 0.1, choice: "mixed" },
  },
  { what: "the inverse on the right", left: [a, b], right: [a, b], correlation: -1, choice: "left" },
  {
    what: "the inverse, louder, on the right",
    ...{ left: [delayed(a, -4), delayed(b, -4)], right: [a, b], correlation: -0.98, choice: "right" },
  },
  { what: "silence on the right", left: [a, b], right: [silent], correlation: 0, choice: "left" },
  {
    what: "only noise on the left",
    left: [noise(9, seconds, -40)],
    right: [a, b],
    correlation: 0,
    choice: "right",
  },
  {
    what: "the same on both, 12 dB weaker on the right",
    left: [a, b],
    right: [delayed(a, -12), delayed(b, -12)],
    correlation: 1,
    choice: "left",
  },
  {
    what: "one voice on the left, both on the right",
    left: [voice(1, seconds, [[1, 12]])],
    right: [voice(1, seconds, [[1, 12]]), b],
    correlation: 0.6,
    choice: "right",
  },
  {
    what: "clicks on the right",
    left: [a, hiss[0]],
    right: [hiss[1], hiss[1].map((power, block) => (block % 400 === 13 ? 0.01 : power))],
    ...{ correlation: 0, choice: "left" },
  },
  { what: "silence", left: [silent], right: [silent], correlation: 0, choice: "mixed" },
  { what: "no blocks", left: [], right: [], correlation: 0, choice: "mixed" },
];

describe("two channels with", () => {
  test.each([...cases])("$what: $choice", ({ left, right, correlation, choice }) => {
    expect(compareChannels({ left: levelsOf(...left), right: levelsOf(...right), correlation })).toBe(choice);
  });
});
