import { describe, expect, test } from "bun:test";
import {
  countRepeated,
  findRepetitions,
  withoutHurriedCopies,
  withoutImpossibleCopies,
} from "../../../../../src/speech/recognizer/whisper/transcription/repetitions.ts";
import { spread, textOf } from "./support.ts";

const times = (count: number, phrase: string) => Array.from({ length: count }, () => phrase).join(" ");

describe("repetitions", () => {
  test.each([
    ["no, no, no", []],
    ["one two three four five six seven eight nine ten", []],
    ["so it goes on and on and on", []],
    [`well ${times(5, "New York,")} he sang`, [{ first: 1, words: 2, copies: 5 }]],
    [times(6, "six"), [{ first: 0, words: 1, copies: 6 }]],
    [`and ${times(3, "I am so sorry.")} Bye`, [{ first: 1, words: 4, copies: 3 }]],
    [`${times(3, "I'm sorry.")} I'm`, [{ first: 0, words: 2, copies: 3 }]],
  ])("in %p are found", (text, expected) => {
    expect(findRepetitions(spread(text, 0, 10))).toEqual(expected);
  });

  test("that are never quite the same are counted", () => {
    const uniform = Array.from({ length: 30 }, (_, i) => `Chapter ${i} of the second book of the third part.`).join(
      " ",
    );
    const words = spread(uniform, 0, 60);
    expect(findRepetitions(words)).toEqual([]);
    expect(countRepeated(words)).toBe(1);
    expect(countRepeated(spread("Ask not what your country can do for you, ask what you can do for it.", 0, 5))).toBe(
      0,
    );
  });

  test("that were spoken are kept", () => {
    const words = spread(`he sang ${times(5, "New York")} all night`, 0, 6);
    expect(withoutImpossibleCopies(words)).toEqual(words);
    const quick = spread(times(8, "no"), 0, 1.6);
    expect(withoutImpossibleCopies(quick)).toEqual(quick);
  });

  test("are reduced to as many copies as fit into their time, at least one", () => {
    const loop = spread(times(50, "thank you very much"), 4, 6);
    const cut = withoutImpossibleCopies([...spread("he said", 3, 4), ...loop, ...spread("and left", 6, 7)]);
    expect(textOf(cut)).toBe(`he said ${times(2, "thank you very much")} and left`);
    expect(textOf(withoutImpossibleCopies(spread(times(9, "good night"), 0, 0.1)))).toBe("good night");
    expect(textOf(withoutImpossibleCopies(spread(times(90, "謝謝"), 0, 2)))).toBe(times(12, "謝謝"));
  });
});

describe("of two equal phrases in a row", () => {
  const said = spread("But I like it.", 10, 11.5);
  const hurried = spread("But I like it.", 11.5, 11.7);

  test("one that nobody can say so fast is removed", () => {
    const copied = withoutHurriedCopies([], [...said, ...hurried]);
    expect(copied).toEqual(said);
    const early = spread("But I like it.", 9.8, 10);
    expect(withoutHurriedCopies([], [...early, ...said])).toEqual(said);
  });

  test("known words stay, and of a copy that they begin, its times are replaced", () => {
    const known = spread("But", 9.5, 9.8);
    const early = spread("I like it.", 9.8, 9.9);
    expect(withoutHurriedCopies(known, [...early, ...said])).toEqual(said.slice(1));
    expect(withoutHurriedCopies(said, hurried)).toEqual([]);
  });

  test("both stay if there was time to say them", () => {
    const twice = [...said, ...spread("But I like it.", 11.6, 13)];
    expect(withoutHurriedCopies([], twice)).toEqual(twice);
    expect(withoutHurriedCopies(hurried, said)).toEqual(said);
  });
});
