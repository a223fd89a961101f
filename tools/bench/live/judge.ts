import { alignEarly, alignWords } from "../../../harness/align-words.ts";
import { plainWords } from "../../../harness/wer.ts";
import { median } from "../../shared/figures.ts";
import type { Piece, SpokenWord } from "./spoken-words.ts";

/** Text that a client shows from a moment on. */
export interface Display {
  /** Seconds since the sound started. */
  readonly at: number;
  /** All final text so far. */
  readonly final: string;
  /** Text after it, which may change. */
  readonly partial: string;
}

/** A spoken word that was recognized, and the seconds from its end until it appeared. */
interface Delay {
  readonly endSeconds: number;
  readonly seconds: number;
}

/** Figures of one session. */
export interface Judgement {
  /** Delays until a word appeared for the first time, partial or final. */
  readonly shown: readonly Delay[];
  /** Delays until a word was final. */
  readonly final: readonly Delay[];
  /** Number of final words. */
  readonly words: number;
  /** Number of words that were shown and then vanished or became other words. */
  readonly withdrawn: number;
  /** Number of final words that changed nevertheless. */
  readonly changedFinal: number;
  /** Number of words that appeared in pieces without speech, and that equal no spoken word. */
  readonly inSilence: number;
}

/** Time before its start in which a word may be shown, because times of words are uncertain. */
const EARLY_SECONDS = 0.3;
/** Time after the start of a silence from which new words do not belong to the speech before it. */
const AFTER_SPEECH_SECONDS = 5;

/** Compares all that a session showed with the words that were spoken. */
export function judge(
  displays: readonly Display[],
  spoken: readonly SpokenWord[],
  pieces: readonly Piece[],
): Judgement {
  const said = spoken.map(({ text }) => text);
  const silences = pieces.filter(({ text }) => text === "");
  const firstShown = new Map<number, number>();
  let [withdrawn, inSilence] = [0, 0];
  let before: readonly string[] = [];
  for (const { at, final, partial } of displays) {
    const words = [...plainWords(final), ...plainWords(partial)];
    const { lost, added } = changeOf(before, words);
    withdrawn += lost;
    before = words;
    const begun = spoken.findLastIndex(({ earliestSeconds }) => earliestSeconds <= at + EARLY_SECONDS) + 1;
    const matches = matchesOf(said.slice(0, begun), words);
    for (const index of matches.values()) if (!firstShown.has(index)) firstShown.set(index, at);
    const isSilent = silences.some((one) => at > one.startSeconds + AFTER_SPEECH_SECONDS && at <= one.endSeconds);
    if (isSilent) inSilence += added.filter((place) => !matches.has(place)).length;
  }
  const { words, finalAt, changed } = finalWordsOf(displays);
  const finalMatches = matchesOf(said, words);
  return {
    shown: delaysOf(spoken, firstShown),
    final: delaysOf(spoken, new Map([...finalMatches].map(([place, index]) => [index, finalAt[place] ?? 0]))),
    words: words.length,
    withdrawn,
    changedFinal: changed,
    inSilence,
  };
}

/** Returns the indexes of the spoken words that equal words of a text, by the places of these in the text. */
function matchesOf(said: readonly string[], words: readonly string[]): Map<number, number> {
  return new Map(
    alignEarly(said, words)
      .filter(([index, place]) => said[index] === words[place])
      .map(([index, place]) => [place, index]),
  );
}

/** Returns the number of words that are lost between two texts, and the places of new words in the second one. */
function changeOf(before: readonly string[], after: readonly string[]): { lost: number; added: number[] } {
  const same = before.findIndex((word, index) => word !== after[index]);
  const common = same < 0 ? before.length : same;
  const [left, right] = [before.slice(common), after.slice(common)];
  const equal = new Set(alignWords(left, right).flatMap(([l, r]) => (left[l] === right[r] ? [r] : [])));
  const added = right.flatMap((_, index) => (equal.has(index) ? [] : [common + index]));
  return { lost: left.length - equal.size, added };
}

/** Returns the final words of the last display, and since when each was final. */
function finalWordsOf(displays: readonly Display[]) {
  let words: string[] = [];
  let changed = 0;
  const finalAt: number[] = [];
  for (const { at, final } of displays) {
    const now = plainWords(final);
    const same = words.findIndex((word, index) => word !== now[index]);
    const common = same < 0 ? words.length : same;
    changed += words.length - common;
    finalAt.length = common;
    while (finalAt.length < now.length) finalAt.push(at);
    words = now;
  }
  return { words, finalAt, changed };
}

function delaysOf(spoken: readonly SpokenWord[], times: ReadonlyMap<number, number>): Delay[] {
  return spoken.flatMap(({ endSeconds }, index) => {
    const at = times.get(index);
    return at === undefined || endSeconds === null ? [] : [{ endSeconds, seconds: at - endSeconds }];
  });
}

/** Returns by how much the delays of the last third of the words exceed those of the first third, by their medians. */
export function growthOf(delays: readonly Delay[]): number {
  const inOrder = delays.toSorted((a, b) => a.endSeconds - b.endSeconds).map(({ seconds }) => seconds);
  const third = Math.ceil(inOrder.length / 3);
  return median(inOrder.slice(-third)) - median(inOrder.slice(0, third));
}
