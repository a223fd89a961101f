import { describe, expect, test } from "bun:test";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { fragmentsOf, fragmentsToCompare, reassignTurns } from "../../src/pipeline/second-pass.ts";
import { countReads } from "../support/count-reads.ts";
import { turn } from "../support/spans.ts";
import { spoken, wordsFrom } from "./words.ts";

describe("the fragments of the second pass", () => {
  test("end with a sentence, at a pause and at a change of speaker", () => {
    const words = [
      ...spoken(0, wordsFrom(0, "That was all there is. And what")),
      ...spoken(1, wordsFrom(2.1, "was it all about")),
      ...spoken(1, wordsFrom(5, "one may well ask")),
      ...spoken(0, wordsFrom(6.2, "No.")),
    ];
    // Fragments of two words and of one word are too short to recognize a voice.
    expect(fragmentsToCompare(fragmentsOf(words)).map(({ startSeconds, speaker }) => [startSeconds, speaker])).toEqual([
      [0, 0],
      [2.1, 1],
      [5, 1],
    ]);
  });

  test("are none with one speaker", () => {
    expect(
      fragmentsToCompare(
        fragmentsOf(spoken(3, wordsFrom(0, "That was all there is. And what comes next? We shall see."))),
      ),
    ).toEqual([]);
  });

  test("are few of a speaker with long turns", () => {
    const long = spoken(0, wordsFrom(0, "And then we went on and on. ".repeat(300).trim()));
    const words = [...long, ...spoken(1, wordsFrom(2000, "May I ask a question?"))];
    const heard = fragmentsToCompare(fragmentsOf(words));
    expect(heard.at(-1)?.speaker).toBe(1);
    expect(heard.length).toBeLessThan(20);
  });
});

describe("a fragment of the second pass", () => {
  const pieces = [turn(0, 4, 0), turn(4, 8, 1), turn(8, 9.5, 0), turn(10, 14, 0)];
  const turns = [turn(0, 4, 0), turn(4, 8, 1), turn(8, 14.2, 0)];

  test("goes to the speaker whose voice it has, and its turn is split", () => {
    const heard = reassignTurns(turns, pieces, [0, 1, 1, 0]);
    expect(heard).toEqual([turn(0, 4, 0), turn(4, 8, 1), turn(8, 9.5, 1), turn(9.5, 14.2, 0)]);
    const words = wordsFrom(8, "What a spiteful thing. And that went on for long.");
    expect(assignSpeakers(words, heard).map((word) => word.speaker)).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  });

  test("stays with its speaker if the voice matches", () => {
    expect(reassignTurns(turns, pieces, [0, 1, 0, 0])).toEqual(turns);
  });

  test("that goes to the next speaker is merged with that speaker's turn", () => {
    const all = [turn(0, 4, 0), turn(4, 7, 1), turn(8, 9.5, 0), turn(9, 20, 1)];
    const heard = reassignTurns(all, pieces, [0, 1, 1, 0]);
    expect(heard).toEqual([turn(0, 4, 0), turn(4, 7, 1), turn(8, 20, 1)]);
    const words = wordsFrom(16, "And that went on for long.");
    expect(assignSpeakers(words, heard).map((word) => word.speaker)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("stays if other speakers overlap half of it", () => {
    const all = [turn(0, 4, 0), turn(4, 20, 1), turn(8, 9.5, 0), turn(10, 14, 0)];
    expect(reassignTurns(all, pieces, [0, 1, 1, 0])).toEqual(all);
  });

  test("leaves simultaneous turns of other speakers unchanged", () => {
    const over = [turn(0, 4, 0), turn(4, 8, 1), turn(8, 14.2, 0), turn(8.5, 9, 2)];
    expect(reassignTurns(over, pieces, [0, 1, 1, 0])).toContainEqual(turn(8.5, 9, 2));
  });
});

test("the work per hour does not grow with the length of the recording", () => {
  const readsIn = (hours: number) => {
    const turns = Array.from({ length: hours * 720 }, (_, index) => turn(index * 5, index * 5 + 4, index % 3));
    const pieces = turns.map((each) => ({ ...each }));
    const counted = countReads(turns);
    const speakers = pieces.map(({ speaker }, index) => (index % 4 === 0 ? (speaker + 1) % 3 : speaker));
    const corrected = reassignTurns(counted.all, pieces, speakers);
    expect(corrected.map(({ speaker }) => speaker)).toEqual(speakers);
    return counted.reads() / hours;
  };
  // Sorting takes slightly more.
  expect(readsIn(16)).toBeLessThan(readsIn(2) * 1.5);
});
