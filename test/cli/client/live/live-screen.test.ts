import { describe, expect, test } from "bun:test";
import type { LiveEvent } from "../../../../sdk/typescript/src/index.ts";
import { LiveScreen } from "../../../../src/cli/client/live/live-screen.ts";
import { Screen } from "../../screen.ts";

const TERM = { TERM: "xterm" };
const partial = (text: string): LiveEvent => ({ type: "partial", turn: "a", text, words: [] });
const final = (number: number, text: string, speaker: string | null = null): LiveEvent => ({
  type: "final",
  turn: "a",
  segment: { number, start: number, end: number + 1, text, speaker, words: [] },
});
const speaker = (segment: number, speaker: string): LiveEvent => ({
  type: "speakers",
  speakers: [{ segment, speaker }],
});
const completed: LiveEvent = { type: "turn_completed", turn: "a", text: "", seconds: 1, language: "en" };
const ended: LiveEvent = { type: "ended", reason: "client", recording_id: null };

/** A pipe that collects what is written. */
class Pipe {
  text = "";
  write(text: string): void {
    this.text += text;
  }
}

describe("the screen of a live session", () => {
  test("shows words that may change below the final ones, and rewrites them in place", () => {
    const terminal = new Screen();
    using screen = new LiveScreen(terminal, TERM);
    screen.show(partial("ask"));
    screen.show(partial("ask not"));
    expect(terminal.text).toBe("                       ask not");
    screen.show(final(0, "Ask not."));
    screen.show(partial("what your"));
    expect(terminal.text).toBe(" 0:00.0 – 0:01.0   -   Ask not.\n                       what your");
    screen.show(speaker(0, "S1"));
    expect(terminal.text).toBe(" 0:00.0 – 0:01.0   S1  Ask not.\n                       what your");
    screen.note("Waiting …");
    expect(terminal.text).toEndWith("what your\nWaiting …");
    screen.show(ended);
    screen.note("");
    expect(terminal.text).toBe(" 0:00.0 – 0:01.0   S1  Ask not.");
  });

  test("prints final words in order once a speaker is known, of these words or of later ones", () => {
    const pipe = new Pipe();
    using screen = new LiveScreen(pipe, TERM);
    screen.show(final(0, "One."));
    screen.show(final(1, "Two."));
    screen.show(partial("three"));
    expect(pipe.text).toBe("");
    screen.show(speaker(1, "S2"));
    expect(pipe.text.split("\n")).toEqual([
      expect.stringContaining(" -   One."),
      expect.stringContaining("  S2  Two."),
      "",
    ]);
    screen.show(final(2, "Three.", "S1"));
    expect(pipe.text).toContain("S1  Three.");
  });

  test("does not wait for a speaker for long after the end of a turn, and not after the end of the session", async () => {
    const written = Promise.withResolvers<string>();
    using screen = new LiveScreen({ write: (text) => written.resolve(text) }, TERM, 1);
    screen.show(final(0, "One."));
    screen.show(completed);
    expect(await written.promise).toContain("One.");
    const pipe = new Pipe();
    using other = new LiveScreen(pipe, TERM);
    other.show(final(0, "One."));
    other.show(ended);
    expect(pipe.text).toContain("One.");
  });

  test("shows the last lines of long words, and writes no control character of them", () => {
    const terminal = new Screen(40);
    terminal.rows = 6;
    using screen = new LiveScreen(terminal, TERM);
    screen.show(partial(Array.from({ length: 40 }, (_, number) => `word${number}`).join(" ")));
    const lines = terminal.text.split("\n");
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toEndWith("word39");
    screen.show(final(0, "\u001b[2JGone\n.", "S1"));
    expect(terminal.text).toContain("�[2JGone");
  });

  test.each([
    ["in a pipe", new Pipe(), TERM],
    ["on a terminal that can't rewrite lines", Object.assign(new Pipe(), { isTTY: true }), { TERM: "dumb" }],
  ])("writes only final lines %s", (_, stream, environment) => {
    using screen = new LiveScreen(stream, environment);
    screen.show(partial("one"));
    screen.note("Waiting …");
    screen.show(final(0, "One.", "S1"));
    screen.show(partial("two"));
    screen.show(ended);
    expect(stream.text).toBe(" 0:00.0 – 0:01.0   S1  One.\n");
  });
});
