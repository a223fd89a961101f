import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import type { Turn } from "../../src/timeline/index.ts";
import { turn } from "../support/spans.ts";
import { wordsFrom } from "./words.ts";

const speakers = (words: ReturnType<typeof wordsFrom>, turns: Turn[]) =>
  assignSpeakers(words, turns).map((word) => word.speaker);

describe("a word", () => {
  const cases: [string, ReturnType<typeof wordsFrom>, Turn[], number[]][] = [
    [
      "goes to the speaker who has most of its time",
      wordsFrom(0, "a b c d", 0.5),
      [turn(0, 0.9, 0), turn(0.9, 3, 1)],
      [0, 0, 1, 1],
    ],
    [
      "outside all turns goes to the nearest one",
      [...wordsFrom(0, "a"), ...wordsFrom(5.1, "b"), ...wordsFrom(8.8, "c"), ...wordsFrom(20, "d")],
      [turn(4, 5, 0), turn(9.2, 10, 1)],
      [0, 0, 1, 1],
    ],
    [
      "in overlapping speech goes to the speaker who covers more of it",
      wordsFrom(1, "a"),
      [turn(0, 1.1, 0), turn(0.9, 3, 1)],
      [1],
    ],
    [
      "in overlapping speech stays with its sentence",
      wordsFrom(0, "That was all. Then what came next?"),
      [turn(0, 1.6, 0), turn(0.5, 2.2, 1)],
      [0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "at a change of speaker stays with its sentence when the turn begins late",
      wordsFrom(0, "How are you? Fine thanks for asking."),
      [turn(0, 1.1, 0), turn(1.1, 3, 1)],
      [0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "at a change of speaker stays with its sentence when the turn begins early",
      wordsFrom(0, "And how are you? Fine thanks."),
      [turn(0, 1, 0), turn(1, 3, 1)],
      [0, 0, 0, 0, 1, 1],
    ],
    [
      "in mid-sentence stays with its turn when no sentence ends close by",
      wordsFrom(0, "one two three four five six seven eight"),
      [turn(0, 1.2, 0), turn(1.2, 3, 1)],
      [0, 0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "of a short turn goes to its speaker where the text has no punctuation",
      wordsFrom(0, "so we went home i know that and then it rained"),
      [turn(0, 1.2, 0), turn(1.2, 2.1, 1), turn(2.1, 3.3, 0)],
      [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0],
    ],
    [
      "stays with its sentence when another speaker talks over it",
      wordsFrom(0, "So we went home and then it rained."),
      [turn(0, 3, 0), turn(1.2, 1.6, 1)],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    [
      "of an interjection goes to the speaker who interjects",
      [...wordsFrom(0, "So we went home."), ...wordsFrom(1.3, "Yeah."), ...wordsFrom(1.8, "And then it rained.")],
      [turn(0, 3, 0), turn(1.25, 1.7, 1)],
      [0, 0, 0, 0, 1, 0, 0, 0, 0],
    ],
  ];
  test.each(cases)("%s", (_, words, turns, expected) => {
    expect(speakers(words, turns)).toEqual(expected);
  });

  test("is kept when there are no turns", () => {
    expect(speakers(wordsFrom(0, "a b"), [])).toEqual([0, 0]);
  });

  test("keeps its text and times", () => {
    const words = wordsFrom(0, "How are you?");
    expect(assignSpeakers(words, [turn(0, 9, 3)])).toEqual(words.map((word) => ({ ...word, speaker: 3 })));
  });
});

describe("a remark of one word inside another speaker's sentence", () => {
  /** A sentence of speaker 0 from 0 to 3.15 s, with the remark from 1.3 to 1.6 s. */
  const sentence = (before: string, remark: string, after: string, startSeconds = 1.3, seconds = 0.3) => [
    ...wordsFrom(0, before),
    ...wordsFrom(startSeconds, remark, seconds),
    ...wordsFrom(1.65, after),
  ];
  const own = [turn(0, 1.25, 0), turn(1.25, 1.65, 1), turn(1.65, 3.2, 0)];
  const given = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
  const kept = given.map(() => 0);
  const plain = sentence("so we went home", "yes", "and then it rained hard");
  const cases: [string, ReturnType<typeof wordsFrom>, Turn[], number[]][] = [
    ["is its speaker's in text without punctuation", plain, own, given],
    ["is its speaker's between commas", sentence("So we went home,", "right,", "and then it rained hard."), own, given],
    ["is its speaker's without a comma", sentence("So we went home", "right", "and then it rained hard."), own, given],
    ["is its speaker's as a sentence", sentence("So we went home.", "Yes.", "And then it rained hard."), own, given],
    ["is its speaker's after a clause", sentence("So we went home,", "Yes.", "and then it rained hard."), own, given],
    [
      "is its speaker's when the turns have short overlaps",
      plain,
      [turn(0, 1.33, 0), turn(1.25, 1.65, 1), turn(1.58, 3.2, 0)],
      given,
    ],
    [
      "is its speaker's as a sentence while the other one talks on",
      sentence("So we went home.", "Yes.", "And then it rained hard."),
      [turn(0, 3.2, 0), turn(1.25, 1.65, 1)],
      given,
    ],
    [
      "stays with the sentence if both talk, as its time shows no speaker",
      plain,
      [turn(0, 3.2, 0), turn(1.25, 1.65, 1)],
      kept,
    ],
    [
      "stays with the sentence if its word reaches far beyond the turn",
      sentence("so we went home", "yes", "and then it rained hard", 1.2, 0.45),
      [turn(0, 1.45, 0), turn(1.45, 1.62, 1), turn(1.62, 3.2, 0)],
      kept,
    ],
    [
      "leaves the sentence to its speaker if nobody wrote it down",
      wordsFrom(0, "so we went home and then it rained"),
      [turn(0, 3, 0), turn(1.1, 1.6, 1)],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    [
      "leaves a longer turn to the rules for turns",
      plain,
      [turn(0, 1.25, 0), turn(1.25, 2.4, 1), turn(2.4, 3.2, 0)],
      [0, 0, 0, 0, 1, 1, 1, 0, 0, 0],
    ],
  ];
  test.each(cases)("%s", (_, words, turns, expected) => {
    expect(speakers(words, turns)).toEqual(expected);
  });

  test("never moves a word of the sentence, wherever it falls and whatever the spelling", () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const { words, remark, turns } = randomRemark(seed);
      const assigned = speakers(words, turns);
      expect({ seed, moved: assigned.filter((speaker, index) => index !== remark && speaker !== 0) }).toEqual({
        seed,
        moved: [],
      });
      if (remark !== null) expect({ seed, speaker: assigned[remark] }).toEqual({ seed, speaker: 1 });
    }
  });
});

/**
 * Returns a sentence of speaker 0 with a remark of speaker 1 at a random place. The remark has a word of its own in a
 * pause of the sentence, or no word and a turn over the sentence. Edges of turns are up to 0.1 s off.
 */
function randomRemark(seed: number) {
  const random = randomNumbers(seed);
  const marks = [
    ["", ""],
    [",", ","],
    ["", "."],
  ][Math.floor(random() * 3)] ?? ["", ""];
  const count = 5 + Math.floor(random() * 10);
  const at = 2 + Math.floor(random() * (count - 3));
  const hasWord = random() < 0.5;
  const seconds = 0.25 + random() * 0.3;
  const words: ReturnType<typeof wordsFrom> = [];
  let now = 1;
  let remarkStart = 0;
  for (let index = 0; index < count; index++) {
    if (index === at) {
      remarkStart = now + 0.1;
      if (hasWord) {
        words.push(...wordsFrom(remarkStart, `yes${marks[1]}`, seconds));
        now = remarkStart + seconds + 0.1;
      }
    }
    const length = 0.15 + random() * 0.3;
    words.push(...wordsFrom(now, index === at - 1 && hasWord ? `word${marks[0]}` : "word", length));
    now += length + (random() < 0.1 ? random() * 0.3 : 0);
  }
  const off = () => (random() - 0.5) * 0.2;
  const own = turn(remarkStart + off() / 4, remarkStart + seconds + off() / 4, 1);
  const others = hasWord
    ? [turn(1 + off(), remarkStart - 0.05 + off() / 2), turn(remarkStart + seconds + 0.05 + off() / 2, now + off())]
    : [turn(1 + off(), now + off())];
  const turns = [...others, own, turn(now + 5, now + 8, 1)].sort((a, b) => a.startSeconds - b.startSeconds);
  return { words, remark: hasWord ? at : null, turns };
}
