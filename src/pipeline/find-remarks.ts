import { type EngineWord, OverlapFinder, type Span, secondsOf, sharedSeconds, type Turn } from "../timeline/index.ts";

/** Maximum length of the turn of a remark, in seconds: one long word, slowly spoken. */
const LONGEST_SECONDS = 0.8;
/** Maximum distance, in seconds, from the remark's turn to the turns of the other speaker before and after it. */
const NEAR_SECONDS = 1;
/** Minimum part of the word that lies in the remark's turn, and of the turn that the word fills. */
const LEAST_INSIDE = 0.75;
const LEAST_FILLED = 0.5;
/**
 * Maximum part of the word that turns of others may overlap. Where more of it does, its time does not tell who spoke it:
 * the recognizer writes the louder voice, which is mostly that of the sentence.
 */
const MOST_OVERLAPPED = 0.25;

/**
 * Finds remarks: single words, like "Yes", that fill a short turn of their own between two turns of another speaker. The
 * cost of two speaker changes would leave such a word to the speaker of the sentence around it.
 * @param words in order of their start
 * @param turns in order of their start; they may overlap
 * @returns the speakers of remarks, by the index of the word
 */
export function findRemarks(words: readonly EngineWord[], turns: readonly Turn[]): Map<number, number> {
  const finder = new OverlapFinder(turns);
  const remarks = new Map<number, number>();
  for (const [index, word] of words.entries()) {
    const reach = LONGEST_SECONDS + NEAR_SECONDS;
    const near = finder.overlapping({ startSeconds: word.startSeconds - reach, endSeconds: word.endSeconds + reach });
    const own = near.find((turn) => secondsOf(turn) <= LONGEST_SECONDS && isRemark(word, turn));
    if (own === undefined) continue;
    const neighbours = [words[index - 1], words[index + 1]];
    if (neighbours.some((other) => other === undefined || isMiddleIn(other, own))) continue;
    const others = near.filter(({ speaker }) => speaker !== own.speaker);
    const covered = others.reduce((sum, turn) => sum + sharedSeconds(word, turn), 0);
    if (covered <= MOST_OVERLAPPED * secondsOf(word) && isSurrounded(own, others)) remarks.set(index, own.speaker);
  }
  return remarks;
}

function isRemark(word: Span, turn: Turn): boolean {
  const inside = sharedSeconds(word, turn);
  return inside >= LEAST_INSIDE * secondsOf(word) && inside >= LEAST_FILLED * secondsOf(turn);
}

function isMiddleIn(word: Span, turn: Turn): boolean {
  const middle = (word.startSeconds + word.endSeconds) / 2;
  return middle >= turn.startSeconds && middle <= turn.endSeconds;
}

/** Returns whether one other speaker talks shortly before and shortly after a turn. */
function isSurrounded(own: Turn, others: readonly Turn[]): boolean {
  const before = others.filter((turn) => turn.startSeconds < own.startSeconds && isNear(turn, own));
  const after = others.filter((turn) => turn.endSeconds > own.endSeconds && isNear(turn, own));
  return before.some(({ speaker }) => after.some((turn) => turn.speaker === speaker));
}

function isNear(turn: Turn, own: Turn): boolean {
  return own.startSeconds - turn.endSeconds <= NEAR_SECONDS && turn.startSeconds - own.endSeconds <= NEAR_SECONDS;
}
