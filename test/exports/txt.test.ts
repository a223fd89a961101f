import { expect, test } from "bun:test";
import type { ExportDocument, ExportSegment } from "../../src/exports/index.ts";
import { exportedText, segment, transcript } from "../support/transcripts.ts";

const exported = (document: ExportDocument) => exportedText("txt", document);

/** Returns the text below the title and the details. */
async function turns(...segments: ExportSegment[]): Promise<string[]> {
  const text = await exported(transcript([], { segments }));
  return text
    .split("\n\n")
    .slice(2)
    .map((turn) => turn.trim());
}

test("a text has title and details, then every turn under its time and speaker", async () => {
  const segments = [segment("Good morning.", 0, 2), segment("How are you?", 2, 4), segment("Fine.", 4, 5, 1)];
  expect(await exported(transcript([], { durationSeconds: 3725.4, segments }))).toBe(`meeting

Date:      21 November 2026 at 08:05 UTC
Length:    01:02:05
Language:  English
Speakers:  A, B

[00:00:00] A
Good morning. How are you?

[00:00:04] B
Fine.
`);
});

test("the heading is the title, else the file's name, else a default", async () => {
  expect(await exported(transcript([], { title: "Board" }))).toStartWith("Board\n\n");
  expect(await exported(transcript([], { name: null }))).toStartWith("Transcript\n\n");
  expect(await exported(transcript([], { name: "two\nlines\u202e" }))).toStartWith("two lines\n\n");
});

test("a speaker without a name has a number", async () => {
  expect(await turns(segment("Hello.", 0, 1, 7))).toEqual(["[00:00:00] Speaker 8\nHello."]);
});

test.each([
  [59.4, "00:00:59", "00:59"],
  [59.5, "00:01:00", "01:00"],
  [3599.7, "01:00:00", "60:00"],
  [0.5, "00:00:01", "00:01"],
])("a length of %d s is rounded as in the API: %s", async (durationSeconds, length, minutes) => {
  expect(await exported(transcript([], { durationSeconds }))).toContain(`Length:    ${length}\n`);
  expect(await exportedText("lrc", transcript([], { durationSeconds }))).toContain(`[length:${minutes}]\n`);
});

test("a long pause starts a new paragraph, and so does a minute of speech", async () => {
  expect(await turns(segment("One.", 0, 2), segment("Two.", 7, 8))).toEqual([
    "[00:00:00] A\nOne.",
    "[00:00:07] A\nTwo.",
  ]);
  const speech = Array.from({ length: 20 }, (_, index) => segment(`${index}.`, index * 5, index * 5 + 5));
  expect((await turns(...speech)).map((turn) => turn.slice(0, 10))).toEqual(["[00:00:00]", "[00:01:00]"]);
});

test("Chinese and Japanese sentences are joined without a space, Korean sentences with one", async () => {
  expect(await turns(segment("今天很好。", 0, 1), segment("我们走吧。", 1, 2))).toEqual([
    "[00:00:00] A\n今天很好。我们走吧。",
  ]);
  const quoted = [segment("“辻\u{e0100}”", 0, 1), segment("𠮷野家。”", 1, 2), segment("「はい」", 2, 3)];
  expect(await turns(...quoted)).toEqual(["[00:00:00] A\n“辻\u{e0100}”𠮷野家。”「はい」"]);
  expect(await turns(segment("네, 좋아요.", 0, 1), segment("갑시다.", 1, 2))).toEqual([
    "[00:00:00] A\n네, 좋아요. 갑시다.",
  ]);
});

test("segments without visible text give no empty turn", async () => {
  expect(await turns(segment("\u200b \u0000", 0, 1), segment("Yes.", 1, 2, 1))).toEqual(["[00:00:01] B\nYes."]);
});
