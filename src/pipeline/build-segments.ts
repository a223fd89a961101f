import type { Segment } from "../recordings/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";
import { runsBySpeaker } from "./runs-by-speaker.ts";
import { splitSentences } from "./split-sentences.ts";

/** Minimum length of a segment: its end must lie after its start, in whole milliseconds. */
const minSeconds = 0.01;

/**
 * Builds segments from words. A segment ends where the speaker changes and, within one speaker's words, at the ends of
 * sentences, if there are any. It never ends inside a word.
 * @param words in order of their start
 * @param from earliest start of a segment, in seconds
 */
export function buildSegments(words: readonly SpokenWord[], from = 0): Segment[] {
  let reached = from;
  return runsBySpeaker(words.filter((word) => word.text.trim() !== ""))
    .flatMap(splitSentences)
    .map((group, index): Segment => {
      const first = group[0] as SpokenWord;
      const startSeconds = Math.max(reached, first.startSeconds);
      reached = startSeconds;
      const endSeconds = Math.max(startSeconds + minSeconds, ...group.map((word) => word.endSeconds));
      const text = textOf(group);
      return { index, startSeconds, endSeconds, speaker: first.speaker, text, words: group };
    });
}

function textOf(words: readonly SpokenWord[]): string {
  return words
    .map((word) => word.text)
    .join("")
    .trim();
}
