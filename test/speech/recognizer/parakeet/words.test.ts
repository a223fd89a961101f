import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../../../harness/random-numbers.ts";
import { cutWindows } from "../../../../src/speech/recognizer/parakeet/windows.ts";
import { toWords } from "../../../../src/speech/recognizer/parakeet/words.ts";

const pieces = ["<unk>", "<|en|>", "▁Guten", "▁Tag", ",", "▁wel", "t", ".", "▁", "▁-", "ung"];
/** Tokens of 2 frames each by their pieces, from frame 5 on, every 3 frames. */
const tokensOf = (...texts: string[]) =>
  texts.map((text, i) => ({ id: pieces.indexOf(text), frame: 5 + 3 * i, duration: 2, probability: 0.5 + i / 10 }));
const textsOf = (...texts: string[]) => toWords(tokensOf(...texts), pieces, 10).map(({ text }) => text);

describe("the words of Parakeet's tokens", () => {
  test("are spelled and punctuated as the model writes them", () => {
    expect(textsOf("▁Guten", "▁Tag", ",", "▁wel", "t", ".")).toEqual([" Guten", " Tag,", " welt."]);
  });

  test.each<[string, string[], string[]]>([
    ["control pieces are no text", ["<|en|>", "▁Guten", "<unk>", "▁Tag"], [" Guten", " Tag"]],
    ["a space alone begins a word", ["▁Guten", "▁", "t"], [" Guten", " t"]],
    ["a space without letters is no word", ["▁Guten", "▁"], [" Guten"]],
    ["separate punctuation belongs to the word before it", ["▁Guten", "▁-", "▁Tag"], [" Guten -", " Tag"]],
    ["a window may begin inside a word", ["ung", "▁Tag"], [" ung", " Tag"]],
    ["no tokens are no words", [], []],
  ])("%s", (_, tokens, words) => {
    expect(textsOf(...tokens)).toEqual(words);
  });

  test("last from the frame of their first token to the end of the last one; punctuation takes no time", () => {
    const [guten, tag, welt] = toWords(tokensOf("▁Guten", "▁Tag", ",", "▁wel", "t", "."), pieces, 10);
    expect(guten).toMatchObject({ startSeconds: 5 * 0.08, endSeconds: 7 * 0.08, probability: 0.5 });
    expect(tag?.endSeconds).toBeCloseTo(10 * 0.08);
    expect(tag?.probability).toBeCloseTo((0.6 + 0.7) / 2);
    expect(welt?.startSeconds).toBeCloseTo(14 * 0.08);
    expect(welt?.endSeconds).toBeCloseTo(19 * 0.08);
  });

  test("never overlap and end with the window", () => {
    const tokens = [
      { id: 2, frame: 3, duration: 4, probability: 1 },
      { id: 3, frame: 3, duration: 0, probability: 1 },
      { id: 5, frame: 4, duration: 4, probability: 1 },
    ];
    const words = toWords(tokens, pieces, 0.5);
    const times = words.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBe(0.5);
  });
});

/** Noise of the given seconds, almost silent in the given spans. */
function noise(seconds: number, ...silences: [number, number][]): Float32Array {
  const random = randomNumbers(3);
  return Float32Array.from({ length: seconds * 16_000 }, (_, i) => {
    const isSilent = silences.some(([from, to]) => i >= from * 16_000 && i < to * 16_000);
    return (random() - 0.5) * (isSilent ? 0.001 : 0.5);
  });
}

describe("the windows of a chunk", () => {
  const lengths = (samples: Float32Array) => cutWindows(samples).map(({ first, end }) => (end - first) / 16_000);

  test.each([0, 0.05, 5, 20])("of %d s are one", (seconds) => {
    expect(lengths(noise(seconds))).toEqual([seconds]);
  });

  test("end in the middle of the longest silence that leaves no short window", () => {
    expect(cutWindows(noise(30, [3, 6], [12, 12.5], [16, 17], [26, 29]))[0]?.end).toBeCloseTo(16.5 * 16_000, -3);
  });

  test.each([21, 22, 25, 29, 30, 41, 64, 100])("of %d s have 5 to 20 s each and all samples in order", (seconds) => {
    const samples = noise(seconds);
    const windows = cutWindows(samples);
    expect(windows[0]?.first).toBe(0);
    expect(windows.at(-1)?.end).toBe(samples.length);
    for (const [index, { first, end }] of windows.entries()) {
      expect(first).toBe(windows[index - 1]?.end ?? 0);
      expect(end - first).toBeLessThanOrEqual(20 * 16_000);
      expect(end - first).toBeGreaterThanOrEqual(5 * 16_000);
    }
  });
});
