import { expect, test } from "bun:test";
import { compareLiveText } from "../../../src/console/server/live-comparison.ts";
import type { SegmentWithWords, StoredWord } from "../../../src/segments/index.ts";

const live = (startSeconds: number, text: string) => ({ startSeconds, endSeconds: startSeconds + 4, text });

/** Returns a segment whose words last half a second each. */
function segment(startSeconds: number, text: string): SegmentWithWords {
  const start = startSeconds * 1000;
  const words = text.split(" ").map((word, index): StoredWord => {
    return [` ${word.replace(/[.,]$/, "")}`, start + index * 500, start + index * 500 + 400, 0.9];
  });
  const end = words.at(-1)?.[2] ?? start;
  return {
    ...{ id: 0, index: 0, startMilliseconds: start, endMilliseconds: end, speaker: 0, isSpeakerUncertain: false },
    ...{ text, words },
  };
}

test("a live text is compared with the transcript in parts of twenty seconds or more, by the times of the words", async () => {
  const segments = [live(0, "One two."), live(10, "Three."), live(30, "Four"), live(36, "five.")];
  const transcript = [segment(0, "One, two."), segment(11, "Three."), segment(31, "Four."), segment(37, "Five.")];
  expect(await compareLiveText(segments, transcript, 0)).toEqual({
    parts: [
      { start: 0, live: "One two. Three.", transcript: "One, two. Three." },
      { start: 30, live: "Four five.", transcript: "Four. Five." },
    ],
    next_after: null,
  });
});

test("a segment of the transcript is divided where the live text has the end of a part", async () => {
  const segments = [live(0, "A"), live(24, "B")];
  const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(" ");
  const { parts } = await compareLiveText(segments, [segment(0, words)], 0);
  // The first part ends at 14 s, between the two live segments.
  expect(parts.map(({ transcript }) => transcript.split(" ").at(-1))).toEqual(["w27", "w59"]);
});

test("words before the first and after the last live segment belong to the first and the last part", async () => {
  const transcript = [segment(0, "Early."), segment(50, "Here."), segment(500, "Late.")];
  expect((await compareLiveText([live(50, "Here")], transcript, 0)).parts).toEqual([
    { start: 50, live: "Here", transcript: "Early. Here. Late." },
  ]);
});

test("texts without spaces are joined without them", async () => {
  const { parts } = await compareLiveText(
    [live(0, "今日は"), live(5, "晴れ。")],
    [segment(0, "今日は"), segment(5, "晴れ")],
    0,
  );
  expect(parts).toEqual([{ start: 0, live: "今日は晴れ。", transcript: "今日は晴れ" }]);
});

test("a long comparison has pages, which together have each word once", async () => {
  const segments = Array.from({ length: 250 }, (_, index) => live(index * 20, `live ${index}`));
  const transcript = segments.map(({ startSeconds }, index) => segment(startSeconds + 1, `text ${index}`));
  const parts = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = await compareLiveText(segments, transcript, after);
    parts.push(...page.parts);
    after = page.next_after;
  }
  expect(parts).toEqual(
    segments.map(({ startSeconds }, index) => ({
      start: startSeconds,
      live: `live ${index}`,
      transcript: `text ${index}`,
    })),
  );
});

test("a session in which nobody spoke has no parts", async () => {
  expect(await compareLiveText([], [segment(0, "Music")], 0)).toEqual({ parts: [], next_after: null });
});
