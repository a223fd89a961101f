import type { EngineWord, Turn } from "../engine/index.ts";
import { endsSentence } from "./sentences.ts";

export interface SpokenWord extends EngineWord {
  readonly speaker: number;
}

/** A change of speaker may move by this many words, and this long, to where a sentence ends. */
const snapWords = 2;
const snapSeconds = 0.8;

/**
 * Gives every word the speaker who has most of its time, or the nearest one where nobody has any; then moves each change
 * of speaker to the end of a sentence close by: turns are known to a quarter second, and people seldom stop in mid-sentence.
 * @param words in order of their start
 * @param turns in order of their start; they may overlap
 */
export function assignSpeakers(words: readonly EngineWord[], turns: readonly Turn[]): SpokenWord[] {
  const speakers = speakersByOverlap(words, turns);
  snapToSentences(words, speakers);
  return words.map((word, index) => ({ ...word, speaker: speakers[index] ?? 0 }));
}

function speakersByOverlap(words: readonly EngineWord[], turns: readonly Turn[]): number[] {
  // Turns that ended before a word never matter again: what is kept is bounded by how many speak at once.
  let next = 0;
  let active: Turn[] = [];
  let last: Turn | null = null;
  return words.map((word) => {
    for (let turn = turns[next]; turn !== undefined && turn.startSeconds < word.endSeconds; turn = turns[++next]) {
      active.push(turn);
    }
    const ended = active.filter((turn) => turn.endSeconds <= word.startSeconds);
    for (const turn of ended) if (last === null || turn.endSeconds > last.endSeconds) last = turn;
    active = active.filter((turn) => turn.endSeconds > word.startSeconds);
    return (mostOverlapping(word, active) ?? nearer(word, last, turns[next] ?? null))?.speaker ?? 0;
  });
}

function mostOverlapping(word: EngineWord, turns: readonly Turn[]): Turn | null {
  const shares = new Map<number, { turn: Turn; seconds: number }>();
  for (const turn of turns) {
    const seconds = Math.min(word.endSeconds, turn.endSeconds) - Math.max(word.startSeconds, turn.startSeconds);
    if (seconds > 0) {
      shares.set(turn.speaker, { turn, seconds: seconds + (shares.get(turn.speaker)?.seconds ?? 0) });
    }
  }
  const [most] = [...shares.values()].sort((a, b) => b.seconds - a.seconds);
  return most?.turn ?? null;
}

function nearer(word: EngineWord, before: Turn | null, after: Turn | null): Turn | null {
  if (before === null || after === null) return before ?? after;
  return word.startSeconds - before.endSeconds <= after.startSeconds - word.endSeconds ? before : after;
}

function snapToSentences(words: readonly EngineWord[], speakers: number[]): void {
  const sentenceEndsBefore = (index: number) => {
    const word = words[index - 1];
    return word !== undefined && endsSentence(word.text, words[index]?.text);
  };
  for (let change = 1; change < words.length; change++) {
    const from = speakers[change - 1] as number;
    const to = speakers[change] as number;
    if (from === to || sentenceEndsBefore(change)) continue;
    for (let distance = 1; distance <= snapWords; distance++) {
      const back = change - distance;
      const forth = change + distance;
      if (mayMove(words, speakers, change, back, from) && sentenceEndsBefore(back)) {
        speakers.fill(to, back, change);
        break;
      }
      if (mayMove(words, speakers, change, forth, to) && sentenceEndsBefore(forth)) {
        speakers.fill(from, change, forth);
        break;
      }
    }
  }
}

/** Whether all words between a change and its new place are one speaker's and no further away than may be. */
function mayMove(
  words: readonly EngineWord[],
  speakers: readonly number[],
  change: number,
  place: number,
  speaker: number,
) {
  const low = Math.min(change, place);
  const high = Math.max(change, place);
  const first = words[low];
  const last = words[high - 1];
  if (low < 1 || first === undefined || last === undefined) return false;
  return (
    last.endSeconds - first.startSeconds <= snapSeconds && speakers.slice(low, high).every((each) => each === speaker)
  );
}
