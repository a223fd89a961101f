import { describe, expect, test } from "bun:test";
import type { LiveMessage, LiveSegment } from "../../../../src/console/contract/index.ts";
import {
  type LiveText,
  noText,
  paragraphsOf,
  plainText,
  spaceBetween,
  withMessage,
  withName,
} from "../../../../src/console/page/live/live-text.ts";

const segment = (number: number, text: string, speaker: string | null = null): LiveSegment => ({
  ...{ number, start: number * 2, end: number * 2 + 1, text, speaker, words: [] },
});
const begins = (turn: string): LiveMessage => ({ type: "speech_started", turn, seconds: 0 });
const partial = (turn: string, text: string): LiveMessage => ({ type: "partial", turn, text, words: [] });
const final = (turn: string, ...parts: Parameters<typeof segment>): LiveMessage => ({
  ...{ type: "final", turn, segment: segment(...parts) },
});
const completed = (turn: string): LiveMessage => ({
  ...{ type: "turn_completed", turn, text: "", seconds: 1, language: "en" },
});
const session = (segments: readonly LiveSegment[]): LiveMessage => ({
  ...{ type: "session", id: "x", sample_rate: 48_000, encoding: "pcm16", language: null, keep: true },
  ...{ received_seconds: 0, segments: [...segments] },
});
const after = (messages: readonly LiveMessage[], text: LiveText = noText) => messages.reduce(withMessage, text);

/** Returns the words of each turn; those that may change are in brackets. */
const wordsOf = ({ turns }: LiveText) =>
  turns.map(({ parts, partial: guess }) => parts.map(({ text }) => text).join(" ") + (guess && `[${guess}]`));

describe("the words of a live session", () => {
  test("change until they are final, and a later guess replaces the earlier one", () => {
    const one = after([begins("a"), partial("a", " We went"), partial("a", "We want down")]);
    expect(wordsOf(one)).toEqual(["[We want down]"]);
    const two = after([final("a", 0, "We went down"), partial("a", "to the harbour")], one);
    expect(wordsOf(two)).toEqual(["We went down[to the harbour]"]);
    expect(wordsOf(after([final("a", 1, "to the harbour."), completed("a")], two))).toEqual([
      "We went down to the harbour.",
    ]);
  });

  test("keep the order of the turns, also when a later turn has words first", () => {
    const text = after([begins("a"), begins("b"), partial("b", "Yes"), final("a", 0, "Really?")]);
    expect(wordsOf(text)).toEqual(["Really?", "[Yes]"]);
  });

  test("have no turn in which nobody spoke, or whose recognition failed", () => {
    const text = after([
      begins("a"),
      completed("a"),
      begins("b"),
      partial("b", "hm"),
      { type: "turn_failed", turn: "b" },
    ]);
    expect(text.turns).toEqual([]);
  });

  test("lose only guesses when the sound of a turn is dropped, and when the session ends", () => {
    const spoken = after([final("a", 0, "One."), completed("a"), partial("b", "Tw"), partial("c", "Thr")]);
    expect(wordsOf(after([{ type: "cleared" }], spoken))).toEqual(["One."]);
    expect(wordsOf(after([{ type: "ended", reason: "client", recording_id: null }], spoken))).toEqual(["One."]);
  });

  test("are complete after a lost connection, and no segment appears twice", () => {
    const before = after([begins("a"), final("a", 0, "One."), partial("a", "two")]);
    const text = after([session([segment(0, "One."), segment(1, "Two."), segment(2, "Three.")])], before);
    expect(wordsOf(text)).toEqual(["One. Two. Three."]);
    expect(text.next).toBe(3);
  });

  test("begin a new turn after a pause in the words that were missed", () => {
    const later = { ...segment(1, "Later."), start: 9, end: 10 };
    expect(wordsOf(after([session([segment(0, "Once."), later])]))).toEqual(["Once.", "Later."]);
  });

  test("of other turns stay the same objects, so that a view does not render them again", () => {
    const before = after([final("a", 0, "One."), completed("a"), final("b", 1, "Two."), completed("b"), begins("c")]);
    const text = after([partial("c", "Thr"), final("c", 2, "Three."), completed("c")], before);
    expect(text.turns[0]).toBe(before.turns[0] as never);
    expect(text.turns[1]).toBe(before.turns[1] as never);
    const named = after([{ type: "speakers", speakers: [{ segment: 1, speaker: "S2" }] }], text);
    expect(named.turns[0]).toBe(text.turns[0] as never);
    expect(named.turns[1]?.parts[0]?.speaker).toBe("S2");
    expect(named.turns[2]).toBe(text.turns[2] as never);
  });

  test("do not change with messages that have no words", () => {
    const text = after([final("a", 0, "One.")]);
    for (const message of [
      { type: "committed", turn: "a", previous_turn: null },
      { type: "speech_stopped", turn: "a", seconds: 1 },
      { type: "error", error: "empty_turn", message: "x" },
      { type: "refused", code: "x", message: "x" },
    ] satisfies LiveMessage[]) {
      expect(withMessage(text, message)).toBe(text);
    }
  });

  test("are grouped by speaker within a turn", () => {
    const { turns } = after([
      final("a", 0, "Shall we?", "S1"),
      final("a", 1, "Yes.", "S2"),
      final("a", 2, "Yes!", "S2"),
    ]);
    const paragraphs = paragraphsOf(turns[0]?.parts ?? []);
    expect(paragraphs.map(({ speaker, start, parts }) => [speaker, start, parts.length])).toEqual([
      ["S1", 0, 1],
      ["S2", 2, 2],
    ]);
  });

  test("whose speaker is not known yet stay together with the words around them", () => {
    const { turns } = after([
      final("a", 0, "Well"),
      final("a", 1, "yes", "S2"),
      final("a", 2, "indeed."),
      final("a", 3, "No.", "S1"),
    ]);
    const paragraphs = paragraphsOf(turns[0]?.parts ?? []);
    expect(paragraphs.map(({ speaker, start, parts }) => [speaker, start, parts.length])).toEqual([
      ["S2", 0, 3],
      ["S1", 6, 1],
    ]);
  });

  test("are copied with times and the given names; guesses are left out", () => {
    const said = after([final("a", 0, "Shall we?", "S1"), completed("a"), final("b", 1, "Yes."), partial("b", "I th")]);
    const text = withName(said, "S1", "Anna");
    expect(plainText(text, (speaker) => text.names[speaker] ?? speaker, String)).toBe("[0] Anna: Shall we?\n[2] Yes.");
    expect(withName(text, "S1", "").names).toEqual({});
  });

  test.each([
    ["Hello", "world", " "],
    ["", "world", ""],
    ["こんにちは。", "世界", ""],
    ["สวัสดี", "ชาวโลก", ""],
    ["안녕", "세계", " "],
    ["世界", "OK", " "],
  ])("have a space between %p and %p as the script demands", (before, next, space) => {
    expect(spaceBetween(before, next)).toBe(space);
  });
});
