import { beforeEach, describe, expect, test } from "bun:test";
import type { Correction, CorrectionError, Transcript } from "../../src/transcripts/index.ts";
import { Shelf } from "../support/shelf.ts";

const MIB = 1024 * 1024;
/** Words that take 1.4 MiB in the stored form. */
const manyWords = JSON.stringify(Array(128 * 1024).fill(["", 0, 1, 1]));
let shelf: Shelf;
let sequence = 0;

beforeEach(() => {
  shelf = new Shelf(() => 1);
  sequence = 0;
});

/** Returns a completed transcript with these texts. @param words JSON of the words of each segment */
function transcriptOf(texts: readonly string[], words = "[]"): Transcript {
  const times = (index: number) => ({ startSeconds: index, endSeconds: index + 0.9 });
  return shelf.completed(texts.map((text, index) => ({ index, ...times(index), speaker: 0, text, words })));
}

function correct(transcript: Transcript, correction: Correction) {
  sequence += 1;
  const by = { author: "anna", editor: "page-one", seen: transcript.revision, sequence, now: sequence * 3_600_000 };
  try {
    return transcript.correct(correction, by);
  } catch (error) {
    return (error as CorrectionError).reason;
  }
}

const replace = (find: string, replacement: string): Correction => ({
  ...{ action: "replace", after: null, except: [], find, replacement },
  ...{ matches_case: true, whole_words: false },
});

describe("corrections", () => {
  test("make no transcript longer than 32 MiB, but one that is can become shorter", () => {
    const transcript = transcriptOf(Array(26).fill("a"), manyWords);
    const shorter = correct(transcript, { action: "text", segment: 0, text: "b" });
    expect(shorter).toMatchObject({ number: 1 });
    expect(correct(transcript, { action: "text", segment: 0, text: "b ".repeat(5000) })).toBe("transcript_too_long");
    expect([transcript.revision, transcript.segment(0)?.text]).toEqual([1, "b"]);
  });

  test("count the bytes of a transcript that an earlier version has corrected", () => {
    const transcript = transcriptOf(Array(26).fill("a"), manyWords);
    correct(transcript, { action: "text", segment: 0, text: "b" });
    shelf.store.$client.run("UPDATE recordings SET corrected_state = json_remove(corrected_state, '$.size')");
    expect(correct(transcript, { action: "text", segment: 1, text: "c".repeat(20_000) })).toMatchObject({ number: 2 });
    expect(correct(transcript, { action: "text", segment: 1, text: "d ".repeat(9000) })).toBe("transcript_too_long");
  });

  test("change at most 2 MiB at once, and continue with the next request", () => {
    const transcript = transcriptOf(Array.from({ length: 80 }, () => "a ".repeat(10_000).trim()));
    const first = correct(transcript, replace("a a", "b b"));
    expect(first).toMatchObject({ next: { id: expect.any(Number) } });
    const bytes = shelf.store.$client.query("SELECT max(octet_length(changes)) AS bytes FROM revisions").get();
    expect((bytes as { bytes: number }).bytes).toBeLessThan(4 * MIB);
  });

  test("that replace a short text by a long one are refused before the result takes memory", () => {
    const transcript = transcriptOf(["a".repeat(20_000)]);
    expect(correct(transcript, replace("a", "b".repeat(200)))).toBe("text_too_long");
    expect(correct(transcript, replace("aa", "b"))).toMatchObject({ number: 1 });
  });

  test("that are many reach a page as the advice to read the transcript again", () => {
    const transcript = transcriptOf(Array.from({ length: 60 }, () => "語".repeat(20_000)));
    const ids = Array.from({ length: 60 }, (_, id) => id);
    correct(transcript, { action: "assign", segments: ids, speaker: null });
    correct(transcript, { action: "assign", segments: ids, speaker: null });
    expect(transcript.changesAfter(1, { author: "another", editor: "page-two" }).splices).toBeNull();
    correct(transcript, { action: "text", segment: 0, text: "人" });
    expect(transcript.changesAfter(2, { author: "another", editor: "page-two" }).splices).toHaveLength(1);
  });

  test("are compared in differences of some segments and characters, however many are removed at once", async () => {
    const transcript = transcriptOf(Array.from({ length: 120 }, () => "語".repeat(1000)));
    for (let id = 0; id < 119; id++) correct(transcript, { action: "text", segment: id, text: "" });
    const { differences } = await transcript.compareWith(0);
    expect(differences.reduce((sum, { before }) => sum + before.length, 0)).toBe(119);
    for (const { before } of differences) expect(before.length).toBeLessThanOrEqual(50);
  });
});
