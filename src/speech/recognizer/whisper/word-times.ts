import { SAMPLE_RATE, type Span, secondsOf } from "../../../timeline/index.ts";
import { findSilences } from "../../silences.ts";
import type { NativePiece, NativeSegment } from "./addon.ts";
import { isPunctuation } from "./words.ts";

/** A word's pieces and its segment. */
export interface UntimedWord {
  pieces: NativePiece[];
  segment: NativeSegment;
}

/** Minimum duration of a word, unless the samples are too short for all words. */
const shortestSeconds = 0.02;
/** Maximum duration of a word: a base, plus a time for each letter. Slow read speech stays below it. */
const longestSeconds = { base: 0.4, perLetter: 0.1 };
/**
 * Maximum time by which a word extends into its punctuation when no pause is detected. In pink and white noise, 3 and 5
 * dB below the speech, the median error of a turn's end is 0.05 to 0.07 s; without this limit 0.12 to 0.18 s.
 */
const punctuationSeconds = 0.15;
/** Minimum duration of a sound that two words can share. */
const shareableSeconds = 0.12;
/** Maximum gap between two spans of the same sound. */
const contiguousSeconds = 0.03;

/**
 * Computes the span of each word, in seconds from the start of the samples; the spans are in order and disjoint.
 * Alignment gives the moment at which one token ends and the next starts, so a pause belongs to the word before it.
 * Detected pauses are removed: a word with speech on both sides of a pause keeps the longest part and its neighbours
 * get the rest.
 */
export function wordTimes(words: UntimedWord[], samples: Float32Array): Span[] {
  const durationSeconds = samples.length / SAMPLE_RATE;
  const silences = findSilences(samples);
  const rough = roughTimes(words, durationSeconds);
  const refined = withoutPauses(rough, silences);
  return inOrder(
    refined.map((span, i) => {
      const spoken = silences.length > 0 ? span : withoutPunctuation(span, words[i]);
      return notTooLong(spoken, letters(words[i]), i === 0);
    }),
    durationSeconds,
  );
}

/** Returns the times from the native code, without gaps where they are aligned. */
function roughTimes(words: UntimedWord[], durationSeconds: number): Span[] {
  let before = 0;
  return words.map(({ pieces, segment }) => {
    const aligned = pieces.at(-1)?.alignedEnd ?? -1;
    const start = aligned >= 0 ? before : Math.max(before, segment.start / 100);
    const end = (aligned >= 0 ? aligned : segment.end) / 100;
    before = Math.min(durationSeconds, Math.max(start, end));
    return { startSeconds: start, endSeconds: before };
  });
}

/** Reduces each word to its longest span of sound and gives the rest to an adjacent word that touches it. */
function withoutPauses(rough: Span[], silences: Span[]): Span[] {
  const refined = rough.map((span) => ({ ...span }));
  let first = 0;
  for (const [i, span] of rough.entries()) {
    while ((silences[first]?.endSeconds ?? Number.POSITIVE_INFINITY) <= span.startSeconds) {
      first++;
    }
    const sounds = soundsWithin(span, silences, first);
    const kept = sounds.toSorted((a, b) => secondsOf(b) - secondsOf(a))[0];
    const [previous, word] = [refined[i - 1], refined[i]];
    if (word === undefined) {
      continue;
    }
    if (kept === undefined) {
      shareSound(previous, word);
      continue;
    }
    Object.assign(word, kept);
    const [leading, trailing] = [sounds.at(0), sounds.at(-1)];
    if (leading !== undefined && leading !== kept && previous !== undefined && touches(previous, leading)) {
      previous.endSeconds = leading.endSeconds;
    }
    const next = rough[i + 1];
    if (trailing !== undefined && trailing !== kept && next !== undefined && touches(trailing, next)) {
      next.startSeconds = trailing.startSeconds;
    }
  }
  return refined;
}

/** Gives a word that lies in silence half of the previous word's sound: alignment is late more often than early. */
function shareSound(previous: Span | undefined, word: Span): void {
  if (previous === undefined || secondsOf(previous) < shareableSeconds) {
    return;
  }
  const middle = (previous.startSeconds + previous.endSeconds) / 2;
  Object.assign(word, { startSeconds: middle, endSeconds: previous.endSeconds });
  previous.endSeconds = middle;
}

/** Returns the parts of a span that are not silence. @param first index of the first silence that may overlap it */
function soundsWithin(span: Span, silences: Span[], first: number): Span[] {
  const sounds: Span[] = [];
  let at = span.startSeconds;
  for (let i = first; i < silences.length; i++) {
    const silence = silences[i];
    if (silence === undefined || silence.startSeconds >= span.endSeconds) {
      break;
    }
    if (silence.startSeconds > at) {
      sounds.push({ startSeconds: at, endSeconds: silence.startSeconds });
    }
    at = Math.max(at, silence.endSeconds);
  }
  if (at < span.endSeconds) {
    sounds.push({ startSeconds: at, endSeconds: span.endSeconds });
  }
  return sounds;
}

/** Limits a word's duration: in noise or music no pause is detected, and a long silence must not belong to a word. */
function notTooLong(span: Span, letterCount: number, isFirst: boolean): Span {
  const longest = longestSeconds.base + longestSeconds.perLetter * letterCount;
  if (secondsOf(span) <= longest) {
    return span;
  }
  return isFirst
    ? { startSeconds: span.endSeconds - longest, endSeconds: span.endSeconds }
    : { startSeconds: span.startSeconds, endSeconds: span.startSeconds + longest };
}

/** Shortens a word that ends in punctuation: alignment gives it the pause after it, which is not detected here. */
function withoutPunctuation(span: Span, word: UntimedWord | undefined): Span {
  const spoken = word?.pieces.findLast((piece) => !isPunctuation(piece.text))?.alignedEnd ?? -1;
  if (spoken < 0) return span;
  const latest = Math.max(span.startSeconds + shortestSeconds, spoken / 100 + punctuationSeconds);
  return { ...span, endSeconds: Math.min(span.endSeconds, latest) };
}

function inOrder(spans: Span[], durationSeconds: number): Span[] {
  let before = 0;
  const shortest = Math.min(shortestSeconds, durationSeconds / spans.length);
  return spans.map((span, i) => {
    const room = (spans.length - 1 - i) * shortest;
    const start = Math.max(before, Math.min(span.startSeconds, durationSeconds - room - shortest));
    const end = Math.max(start + shortest, Math.min(span.endSeconds, durationSeconds - room));
    before = end;
    return { startSeconds: start, endSeconds: end };
  });
}

function letters(word: UntimedWord | undefined): number {
  return word?.pieces.reduce((sum, piece) => sum + piece.text.length, 0) ?? 0;
}

function touches(earlier: Span, later: Span): boolean {
  return later.startSeconds - earlier.endSeconds <= contiguousSeconds;
}
