import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
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

/** Returns notes of 0.2 to 0.7 s, each fading by 20 dB, without pauses. */
function music(seed: number): Powers {
  const random = randomNumbers(seed);
  let [left, length, loudness] = [0, 1, 0];
  return new Float64Array(own.length).map(() => {
    if (left-- <= 0) {
      left = length = 8 + Math.floor(random() * 20);
      loudness = -30 - 10 * random();
    }
    return 10 ** ((loudness - 20 * (1 - left / length)) / 10);
  });
}

/** Returns a tone that sounds for some seconds at the start of each period. */
function tone(periodSeconds: number, onSeconds: number): Powers {
  return new Float64Array(own.length).map((_, block) =>
    (block / BLOCKS_PER_SECOND) % periodSeconds < onSeconds ? 10 ** -2.5 : 0,
  );
}

/** Returns a sound of which some phones lose up to 25 dB more than others, as sibilants do in a narrow band. */
function overTelephone(seed: number, powers: Powers): Powers {
  const random = randomNumbers(seed);
  let loss = 0;
  return powers.map((power, block) => {
    if (block % 4 === 0) loss = 25 * random() ** 3;
    return power * 10 ** (-loss / 10);
  });
}

describe("the silenced part of a channel", () => {
  test.each([
    [-15, 0],
    [-20, 4],
    [-25, 12],
    [-30, 1],
    [-20, 20],
    [-20, 28],
    [-15, 36],
    [-25, 40],
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

  test("is the echo if its delay changes from 0.9 to 1 s during the recording", () => {
    const echo = other.map((_, block) => delayed(other, -20, 36 + Math.floor((4 * block) / other.length))[block] ?? 0);
    const spans = echoSpans(levelsOf(other, hiss), levelsOf(own, echo, hiss));
    expect(partIn(spans, echo, isQuiet(own))).toBeGreaterThan(0.97);
    expect(partIn(spans, own, () => true)).toBeLessThan(0.01);
  });

  test.each([4, 28, 40])(
    "is the echo over a telephone line, %d blocks late, whose loss differs by the sound",
    (delay) => {
      const echo = overTelephone(11, delayed(other, -20, delay));
      const spans = echoSpans(levelsOf(other, hiss), levelsOf(own, echo, hiss));
      expect(partIn(spans, echo, isQuiet(own))).toBeGreaterThan(0.97);
      expect(partIn(spans, own, () => true)).toBeLessThan(0.01);
    },
  );

  test("leaves a party who talks over its late echo", () => {
    const talking = voice(12, seconds, [[14, 18]]);
    const echo = delayed(other, -20, 36);
    const spans = echoSpans(levelsOf(other, hiss), levelsOf(talking, echo, hiss));
    expect(partIn(spans, echo, isQuiet(talking))).toBeGreaterThan(0.97);
    expect(partIn(spans, talking, () => true)).toBeLessThan(0.05);
  });

  test("is empty for voices that talk at once, of any loudness", () => {
    for (let seed = 20; seed < 50; seed++) {
      const [one, another] = [voice(seed, seconds, [[0, seconds]]), voice(seed + 100, seconds, [[0, seconds]])];
      const weaker = delayed(another, -seed % 20);
      expect(echoSpans(levelsOf(one, hiss), levelsOf(weaker, hiss))).toEqual([]);
    }
  });

  test("is empty for parties who say the same words at nearly the same time", () => {
    const words = [...Array(10).keys()].map((word) => [2 + word * 5, 2.4 + word * 5] as const);
    for (let seed = 20; seed < 50; seed++) {
      const said = voice(seed, seconds, words);
      for (const loss of [0, -10, -20]) {
        const also = delayed(said, loss, seed % 20);
        const spans = echoSpans(levelsOf(other, said, hiss), levelsOf(own, also, hiss));
        expect(partIn(spans, own, () => true)).toBe(0);
        if (loss === 0) expect(spans).toEqual([]);
      }
    }
  });

  test.each([
    ["the same music", music(13), music(13), 0],
    ["the same music, somewhat weaker", music(13), music(13), -3],
    ["other music", music(13), music(14), 0],
    ["other, weaker music", music(13), music(14), -10],
    ["the tone of a conference", tone(10, 1), tone(10, 1), 0],
    ["the tone of a conference, weaker", tone(10, 1), tone(10, 1), -12],
    ["a ringing tone, weaker", tone(5, 1), tone(5, 1), -20],
    ["an engaged tone, weaker", tone(1, 0.5), tone(1, 0.5), -12],
    ["a constant tone, weaker", tone(1, 1), tone(1, 1), -12],
  ])("is empty for parties who hear %s", (_, atSource, atChannel, decibels) => {
    const spans = echoSpans(levelsOf(other, atSource, hiss), levelsOf(own, delayed(atChannel, decibels), hiss));
    expect(spans).toEqual([]);
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
