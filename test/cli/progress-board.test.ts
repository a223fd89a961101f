import { expect, test } from "bun:test";
import { ProgressBoard } from "../../src/cli/progress-board.ts";
import { Screen } from "./screen.ts";

const capable = { TERM: "xterm-256color", LANG: "en_GB.UTF-8" };
/** Minimum time between two drawings in tests that do not measure it. */
const INTERVAL = 10;
const redrawn = () => Bun.sleep(3 * INTERVAL);

test("each recording has a line that is redrawn in place, and other output appears above", async () => {
  const screen = new Screen(70);
  using board = new ProgressBoard(screen, capable, INTERVAL);
  const [one, two] = [board.row("meeting.m4a"), board.row("talk.mp3")];
  one.show("transcribe", 41);
  two.show("queued", null);
  await redrawn();
  expect(screen.text).toBe(
    "meeting.m4a  ████████░░░░░░░░░░░░   41 %  transcribe\ntalk.mp3     ░░░░░░░░░░░░░░░░░░░░      …  queued",
  );
  board.above(() => screen.write("said by somebody\n"));
  one.end();
  board.note("meeting.m4a → meeting.srt");
  two.show("decode", 3);
  await redrawn();
  expect(screen.text).toBe(
    "said by somebody\nmeeting.m4a → meeting.srt\ntalk.mp3  ░░░░░░░░░░░░░░░░░░░░    3 %  decode",
  );
  two.end();
  expect(screen.text).toBe("said by somebody\nmeeting.m4a → meeting.srt");
});

test("the board is redrawn at most a few times per second, and only after changes", async () => {
  const screen = new Screen();
  using board = new ProgressBoard(screen, capable);
  const row = board.row("a");
  for (let percent = 0; percent <= 100; percent++) row.show("transcribe", percent);
  await Bun.sleep(300);
  const drawn = screen.writes;
  expect(drawn).toBeLessThan(4);
  for (let times = 0; times < 100; times++) row.show("transcribe", 100);
  await Bun.sleep(300);
  expect(screen.writes).toBe(drawn);
});

test("a terminal that becomes narrower or wider shows each line once", async () => {
  const screen = new Screen(100);
  using board = new ProgressBoard(screen, capable, INTERVAL);
  screen.write("before\n");
  for (const name of ["a-long-name-of-a-recording.m4a", "b.mp3"]) board.row(name).show("transcribe", 50);
  await redrawn();
  for (const columns of [60, 30, 22, 90]) {
    screen.resize(columns);
    const lines = screen.text.split("\n");
    expect([columns, lines.length, lines[0]]).toEqual([columns, 3, "before"]);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThan(columns);
  }
});

test("wide characters count as two columns", async () => {
  const screen = new Screen(64);
  using board = new ProgressBoard(screen, capable, INTERVAL);
  for (const name of ["会議の録音.mp3", "a.mp3", "会".repeat(80)]) board.row(name).show("decode", 0);
  await redrawn();
  const lines = screen.text.split("\n");
  expect(lines).toHaveLength(3);
  const barColumns = lines.map((line) => Bun.stringWidth(line.slice(0, line.indexOf("░"))));
  expect(new Set(barColumns).size).toBe(1);
});

test("recordings that don't fit the terminal are counted", async () => {
  const screen = new Screen();
  screen.rows = 6;
  using board = new ProgressBoard(screen, capable, INTERVAL);
  for (let index = 0; index < 10; index++) board.row(`${index}.mp3`).show("upload", 1);
  await redrawn();
  expect(screen.text.split("\n")).toEqual([...[0, 1, 2].map((n) => expect.stringContaining(`${n}.mp3`)), "and 7 more"]);
});

test("untrusted names and steps send no control characters to the terminal", async () => {
  const screen = new Screen();
  using board = new ProgressBoard(screen, capable, INTERVAL);
  const row = board.row("\x1b[2J\x1b]0;title\x07evil\u202egpj.mp3");
  row.show("\x9b31mred\r\n", 1);
  await redrawn();
  expect(screen.text).toContain("evil");
  expect(screen.text).not.toContain("\u202e");
  row.end();
  board.note("\x1b[1A done");
  expect(screen.text).toBe("\u{fffd}[1A done");
});

test("a locale without UTF-8 gets only ASCII characters", async () => {
  const screen = new Screen();
  using board = new ProgressBoard(screen, { TERM: "vt100" }, INTERVAL);
  board.row("a.mp3").show("upload", 55);
  await redrawn();
  expect(screen.text).toBe("a.mp3  ###########---------   55 %  upload");
});

test("a terminal without redrawing gets a line for each step", () => {
  const screen = new Screen();
  using board = new ProgressBoard(screen, { TERM: "dumb" });
  const row = board.row("a.mp3");
  for (const percent of [1, 2, 3]) row.show("upload", percent);
  row.show("decode", null);
  row.end();
  board.note("done");
  expect(screen.text).toBe("a.mp3: upload\na.mp3: decode\ndone");
});

test("a pipe receives nothing from the board", async () => {
  const written: string[] = [];
  using board = new ProgressBoard({ write: (text) => written.push(text) }, capable, INTERVAL);
  const row = board.row("a.mp3");
  row.show("upload", 1);
  await redrawn();
  row.end();
  board.note("done");
  board.note("more");
  expect(written).toEqual([]);
});

test("a disposed board removes its rows and its listeners", async () => {
  const screen = new Screen();
  {
    using board = new ProgressBoard(screen, capable, INTERVAL);
    board.row("a.mp3").show("upload", 1);
    await redrawn();
  }
  expect([screen.text, screen.listeners]).toEqual(["", 0]);
});
