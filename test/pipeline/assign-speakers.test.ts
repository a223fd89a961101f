import { describe, expect, test } from "bun:test";
import type { Turn } from "../../src/engine/index.ts";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { wordsFrom } from "./words.ts";

const turn = (startSeconds: number, endSeconds: number, speaker: number): Turn => ({
  startSeconds,
  endSeconds,
  speaker,
});
const speakers = (words: ReturnType<typeof wordsFrom>, turns: Turn[]) =>
  assignSpeakers(words, turns).map((word) => word.speaker);

describe("a word", () => {
  test("goes to the speaker who has most of its time", () => {
    expect(speakers(wordsFrom(0, "a b c d"), [turn(0, 0.5, 0), turn(0.5, 2, 1)])).toEqual([0, 0, 1, 1]);
  });

  test("that nobody has goes to the nearest turn, before or after it", () => {
    const words = [...wordsFrom(0, "a"), ...wordsFrom(5.1, "b"), ...wordsFrom(8.8, "c"), ...wordsFrom(20, "d")];
    expect(speakers(words, [turn(4, 5, 0), turn(9.2, 10, 1)])).toEqual([0, 0, 1, 1]);
  });

  test("in overlapped speech goes to the one who covers more of it", () => {
    expect(speakers(wordsFrom(1, "a"), [turn(0, 1.1, 0), turn(0.9, 3, 1)])).toEqual([1]);
  });

  test("is never lost for want of turns", () => {
    expect(speakers(wordsFrom(0, "a b"), [])).toEqual([0, 0]);
  });

  test("at a change of speaker stays with its sentence", () => {
    const words = wordsFrom(0, "How are you? Fine thanks. Good.");
    // The turn of the second speaker is heard one word late, and one word early at its end.
    expect(speakers(words, [turn(0, 1.2, 0), turn(1.2, 1.45, 1), turn(1.45, 2, 0)])).toEqual([0, 0, 0, 1, 1, 0]);
  });

  test("in mid-sentence stays where it was heard when no sentence ends close by", () => {
    const words = wordsFrom(0, "one two three four five six seven eight");
    expect(speakers(words, [turn(0, 1.2, 0), turn(1.2, 3, 1)])).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  test("keeps its text and times", () => {
    const words = wordsFrom(0, "How are you?");
    expect(assignSpeakers(words, [turn(0, 9, 3)])).toEqual(words.map((word) => ({ ...word, speaker: 3 })));
  });
});
