import { expect, test } from "bun:test";
import { IGNORED_NAMES, numberedNames } from "../../src/folders/file-names.ts";

test.each([
  [".hidden.mp3", true],
  [".DS_Store", true],
  ["~$talk.docx", true],
  ["talk.mp3~", true],
  ["talk.mp3.PART", true],
  ["talk.mp3.crdownload", true],
  ["Thumbs.db", true],
  ["talk.txt", true],
  ["talk.TextGrid", true],
  ["Icon\r", true],
  ["~.mp3", true],
  ["talk.mp3", false],
  ["talk.srt\n", false],
  ["atxt", false],
  ["talk", false],
  ["part", false],
  ["talk.part.wav", false],
  ["Gespräch 🙂\n.m4a", false],
])("whether %j is ignored: %p", (name, ignored) => {
  expect(IGNORED_NAMES.test(name)).toBe(ignored);
});

test.each([
  ["talk.mp3", ["talk.mp3", "talk (2).mp3", "talk (3).mp3"]],
  ["talk", ["talk", "talk (2)", "talk (3)"]],
  [".mp3", [".mp3", ".mp3 (2)", ".mp3 (3)"]],
  ["a.b.srt", ["a.b.srt", "a.b (2).srt", "a.b (3).srt"]],
])("%j is numbered before its extension", (name, numbered) => {
  expect(numberedNames(name).take(3).toArray()).toEqual(numbered);
});

test("a numbered name is never longer than a file system allows, and never ends within a character", () => {
  const [first = "", second = ""] = numberedNames(`${"👩‍👩‍👧".repeat(40)}.mp3`)
    .take(2)
    .toArray();
  for (const name of [first, second]) {
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^(?:👩‍👩‍👧)+(?: \(2\))?\.mp3$/u);
  }
});
