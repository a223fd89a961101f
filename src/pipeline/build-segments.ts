import type { Segment } from "../transcriptions/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";
import { endsSentence } from "./sentences.ts";

/** A pause that ends a segment. Pauses between sentences of one speaker are seldom shorter, those within seldom longer. */
const pauseSeconds = 1;
/** A sentence is not set apart from the one before while they are together shorter than this. */
const shortSeconds = 1;
/** Two lines of a subtitle; a longer sentence is broken at a comma, or at last between two words. */
const longCharacters = 200;
const tooLongCharacters = 280;
/** A segment's least length: an end must lie after its start, in whole milliseconds. */
const minSeconds = 0.01;

/**
 * Words → segments: a new one where the speaker changes, after a pause and at the end of a sentence; never in a word.
 * Speakers are numbered anew in order of first appearance.
 * @param words in order of their start
 */
export function buildSegments(words: readonly SpokenWord[]): Segment[] {
  const letters = new Map<number, number>();
  let reached = 0;
  return split(words).flatMap((group, index): Segment[] => {
    const first = group[0] as SpokenWord;
    if (!letters.has(first.speaker)) letters.set(first.speaker, letters.size);
    const startSeconds = Math.max(reached, first.startSeconds);
    reached = startSeconds;
    const endSeconds = Math.max(startSeconds + minSeconds, ...group.map((word) => word.endSeconds));
    const text = textOf(group);
    return [{ index, startSeconds, endSeconds, speaker: letters.get(first.speaker) ?? 0, text, words: group }];
  });
}

function textOf(words: readonly SpokenWord[]): string {
  return words
    .map((word) => word.text)
    .join("")
    .trim();
}

function split(words: readonly SpokenWord[]): SpokenWord[][] {
  const groups: SpokenWord[][] = [];
  let group: SpokenWord[] = [];
  for (const word of words) {
    if (word.text.trim() === "") continue;
    const before = group.at(-1);
    if (before !== undefined && breaksBetween(group, before, word)) {
      groups.push(group);
      group = [];
    }
    group.push(word);
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

function breaksBetween(group: readonly SpokenWord[], before: SpokenWord, word: SpokenWord): boolean {
  if (before.speaker !== word.speaker) return true;
  if (word.startSeconds - before.endSeconds >= pauseSeconds) return true;
  const seconds = before.endSeconds - (group[0]?.startSeconds ?? before.startSeconds);
  if (seconds >= shortSeconds && endsSentence(before.text, word.text)) return true;
  const characters = textOf(group).length;
  return characters >= tooLongCharacters || (characters >= longCharacters && /[,;:，、；：،]$/u.test(before.text));
}
