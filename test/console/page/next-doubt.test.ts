import { describe, expect, test } from "bun:test";
import type { Outline, Segment } from "../../../src/console/contract/index.ts";
import { nextDoubt, rangesAfter, SPEAKER, type Start } from "../../../src/console/page/recording/editing/next-doubt.ts";

/** A transcript of three segments, of which the last one can't be loaded. Words in capitals are uncertain. */
const segments = ["She WEPT and SAID", "to him", null].map((text, index): Segment | null => {
  if (text === null) return null;
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index: from }): Segment["words"][number] => [
    from,
    from + word.length,
    0,
    1,
    word === word.toUpperCase() ? 0.1 : 1,
  ]);
  return { id: index + 10, index, start: 0, end: 1, speaker: "A", is_speaker_uncertain: false, text, words };
});
const outline: Outline = {
  revision: 0,
  start_milliseconds: [0, 0, 0],
  end_milliseconds: [0, 0, 0],
  speaker: [0, 0, 0],
  characters: [17, 6, 5],
  next_after: null,
};
const data = { outline, get: (index: number) => segments[index] ?? null, loaded: async () => null };

test.each([
  ["the next word", 1, "She WEPT and SAID", 0, [4, 8]],
  ["the word after it", 1, "She WEPT and SAID", 8, [13, 17]],
  ["the previous word", -1, "She WEPT and SAID", 13, [4, 8]],
  ["a word behind unsaved text", 1, "Then she WEPT and SAID", 8, [9, 13]],
  ["no word that was typed over", 1, "She cried and SAID", 9, [14, 18]],
  ["no word to which letters were added", -1, "She WEPTs and SAID", 14, null],
  ["nothing before the first word", -1, "She WEPT and SAID", 4, null],
  ["not the words of a segment that can't be loaded", 1, "She WEPT and SAID", 17, "not loaded"],
] as const)("the search for uncertain words finds %s", async (_, direction, text, character, expected) => {
  const found = await nextDoubt(data, 0.5, () => false, direction, { index: 0, text, character });
  expect(found).toEqual(
    expected === null || expected === "not loaded" ? expected : { id: 10, selection: [...expected] },
  );
});

describe("uncertain speakers", () => {
  /** The second segment's speaker is uncertain, and so is the first one's if told so. */
  const find = (isFirstToo: boolean, direction: 1 | -1, start: Start) =>
    nextDoubt(data, 0.5, ({ index }) => index === 1 || (isFirstToo && index === 0), direction, start);
  const [first = "", second = ""] = segments.map((segment) => segment?.text);

  test.each([
    ["after the words of the segment before", false, 1, { index: 0, text: first, character: 17 }, 11],
    ["before the words of its segment", true, -1, { index: 0, text: first, character: 4 }, 10],
    ["from the words of its own segment", false, -1, { index: 1, text: second, character: 3 }, 11],
  ] as const)("are found in the order of the text, %s", async (_, isFirstToo, direction, start, id) => {
    expect(await find(isFirstToo, direction, start)).toEqual({ id, selection: [0, 0], isSpeaker: true });
  });

  test.each([
    ["its own words", true, 1, 0, { id: 10, selection: [4, 8] }],
    ["the words of the segment before", false, -1, 1, { id: 10, selection: [13, 17] }],
    ["nothing before the first one", true, -1, 0, null],
  ] as const)("are followed by %s", async (_, isFirstToo, direction, index, expected) => {
    const text = segments[index]?.text ?? "";
    const found = await find(isFirstToo, direction, { index, text, character: SPEAKER });
    expect(found).toEqual(expected === null ? null : { id: expected.id, selection: [...expected.selection] });
  });
});

test("ranges of a language without spaces stay where the text is unchanged", () => {
  expect(rangesAfter("我们去港口", "昨天我们去港口", [[2, 3]])).toEqual([[4, 5]]);
});
