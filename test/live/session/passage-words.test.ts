import { describe, expect, test } from "bun:test";
import { PassageWords, withoutOverlap } from "../../../src/live/session/passage-words.ts";
import type { EngineWord } from "../../../src/timeline/index.ts";

/** Returns words of 0.3 s, one each 0.4 s. */
function words(text: string, fromSeconds = 0): EngineWord[] {
  return text.split(" ").map((word, index) => {
    const startSeconds = fromSeconds + index * 0.4;
    return { text: ` ${word}`, startSeconds, endSeconds: startSeconds + 0.3, probability: 0.9 };
  });
}

const textOf = (list: readonly EngineWord[]) => list.map(({ text }) => text.trim()).join(" ");

describe("the words of a passage", () => {
  test("are final when two passes agree on them, and when they lie far enough behind the end of the sound", () => {
    const passage = new PassageWords(0);
    const first = passage.add(words("ask not"), 1.3, "agreed");
    expect([textOf(first.final), textOf(first.open)]).toEqual(["", "ask not"]);
    const second = passage.add(words("Ask not, what your"), 1.8, "agreed");
    expect([textOf(second.final), textOf(second.open)]).toEqual(["Ask not,", "what your"]);
    expect(textOf(passage.known)).toBe("Ask not,");
    const third = passage.add(words("what your country", 0.8), 2.3, "agreed");
    expect([textOf(third.final), textOf(third.open)]).toEqual(["what", "your country"]);
    const last = passage.add(words("your country", 1.2), 2.4, "all");
    expect([textOf(last.final), textOf(last.open)]).toEqual(["your country", ""]);
    expect(textOf(passage.known)).toBe("Ask not, what your country");
  });

  test("are not final while their language is not sure, or where two passes differ", () => {
    const passage = new PassageWords(0);
    expect(textOf(passage.add(words("ask not"), 5, "none").final)).toBe("");
    expect(textOf(passage.add(words("ask not"), 5, "none").final)).toBe("");
    expect(textOf(passage.add(words("a knot what"), 5, "agreed").final)).toBe("");
    expect(textOf(passage.add(words("a not what"), 5, "agreed").final)).toBe("a");
  });

  test("are known from one of the last seconds on, once a pass gets long", () => {
    const passage = new PassageWords(0);
    const all = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";
    passage.add(words(all), 9, "all");
    expect([passage.startSeconds, textOf(passage.known)]).toEqual([0, all]);
    passage.add(words("seventeen", 6.4), 10.5, "all");
    expect(passage.startSeconds).toBeCloseTo(2.8, 5);
    expect(textOf(passage.known)).toBe(all.slice(all.indexOf("eight")).concat(" seventeen"));
  });

  test("stay when a pass omits them, and recognizes only later ones", () => {
    const passage = new PassageWords(0);
    passage.add(words("his eyes"), 3, "all");
    passage.add(words("the more proposals", 1.2), 3, "agreed");
    const last = passage.add(words("what do", 4), 5, "all");
    expect(textOf(last.final)).toBe("the more proposals what do");
    // The same word at another time is not omitted.
    passage.add(words("I hear", 5.2), 6, "agreed");
    expect(textOf(passage.add(words("I heard", 6.2), 7, "agreed").open)).toBe("I heard");
  });

  test("begin with the last seconds of the passage before, if it ended shortly before", () => {
    const before = words("one two three four five six seven eight nine ten eleven twelve");
    const passage = new PassageWords(5, before);
    expect(passage.startSeconds).toBeCloseTo(0.8, 5);
    expect(textOf(passage.known)).toBe("three four five six seven eight nine ten eleven twelve");
    const first = passage.add(words("and more", 7), 8, "none");
    expect(textOf(first.open)).toBe("and more");
    passage.forgetBefore();
    expect([passage.startSeconds, textOf(passage.known)]).toEqual([5, ""]);
    const later = new PassageWords(7, before);
    expect([later.startSeconds, textOf(later.known)]).toEqual([7, ""]);
    const other = new PassageWords(5, before);
    other.add(words("own", 5.2), 7, "all");
    other.restart();
    expect([other.startSeconds, textOf(other.known)]).toEqual([5, "own"]);
  });

  test("are no longer known when passes begin behind them", () => {
    const passage = new PassageWords(0);
    passage.add(words("ask not"), 3, "all");
    passage.beginAt(2.5);
    expect([passage.startSeconds, passage.known.length]).toEqual([2.5, 0]);
  });
});

describe("words that overlap those before them", () => {
  test.each([
    ["in the workhouse.", "workhouse Then said", "Then said"],
    ["in the workhouse.", "In the Workhouse, then", "then"],
    ["in the workhouse.", "then said", "then said"],
    ["in the workhouse.", "workhouse", ""],
  ])("after %j are removed from %j", (before, after, rest) => {
    expect(textOf(withoutOverlap(words(before), words(after)))).toBe(rest);
  });
});
