import { SAMPLE_RATE, type Span, secondsOf } from "../../../../timeline/index.ts";
import { findSilences } from "../../../silences.ts";
import type { WhisperWord } from "../types.ts";

/** Resolution of the analysis: steps of 10 ms. */
const STEPS_PER_SECOND = 100;
/** A window and the sound without words in it from which words count as missing; badly timed words leave less. */
const WINDOW_SECONDS = 5;
const MAX_SOUND_SECONDS = 2.4;
/**
 * Maximum sound before the first and after the last word of a chunk. Of 83 chunks of the corpus, all but one had less
 * than 0.8 s; it had 1.2 s, and four words were missing at its end.
 */
const MAX_EDGE_SECONDS = 1;
/** Longest span without a word. A chunk has no silence over 2 s, so a longer span has speech, even if 50 dB quieter. */
const MAX_WORDLESS_SECONDS = 3;
/** Maximum duration of a word that counts as spoken: a base, plus a time for each letter. */
const SPOKEN_SECONDS = { base: 0.25, perLetter: 0.09 };

/**
 * Returns the seconds in which whisper may have omitted something: lasting sound without words, or a long span without
 * words; 0 when there are none. Whisper sometimes omits a sentence and spreads the adjacent words over its time. Found
 * on four of 103 chunks of the corpus; in each of them at least one sentence was missing.
 */
export function missingSeconds(samples: Float32Array, words: readonly WhisperWord[]): number {
  const wordless = new Uint8Array(Math.floor((samples.length / SAMPLE_RATE) * STEPS_PER_SECOND)).fill(1);
  for (const word of words) clear(wordless, spoken(word));
  const found = crowdedSeconds(wordless, MAX_WORDLESS_SECONDS, MAX_WORDLESS_SECONDS);
  const silences = findSilences(samples);
  // Sound cannot be distinguished from silence here, so there is no sound to count.
  if (silences.length === 0) return found;
  for (const silence of silences) clear(wordless, silence);
  return Math.max(found, crowdedSeconds(wordless, WINDOW_SECONDS, MAX_SOUND_SECONDS), edgeSeconds(wordless, words));
}

/** Returns the seconds set before the first and after the last word; each side counts only above its maximum. */
function edgeSeconds(steps: Uint8Array, words: readonly WhisperWord[]): number {
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const before = steps.subarray(0, Math.round(first.startSeconds * STEPS_PER_SECOND));
  const after = steps.subarray(Math.round(spoken(last).endSeconds * STEPS_PER_SECOND));
  return [before, after]
    .map((edge) => edge.reduce((sum, step) => sum + step, 0) / STEPS_PER_SECOND)
    .filter((seconds) => seconds > MAX_EDGE_SECONDS)
    .reduce((sum, seconds) => sum + seconds, 0);
}

/** Returns the longest span without a word, if it is longer than any silence in a chunk; otherwise null. */
export function longestWordless(samples: Float32Array, words: readonly WhisperWord[]): Span | null {
  let longest: Span = { startSeconds: 0, endSeconds: 0 };
  let reached = 0;
  const end = { startSeconds: samples.length / SAMPLE_RATE, endSeconds: samples.length / SAMPLE_RATE };
  for (const { startSeconds, endSeconds } of [...words.map(spoken), end]) {
    if (startSeconds - reached > secondsOf(longest)) {
      longest = { startSeconds: reached, endSeconds: startSeconds };
    }
    reached = Math.max(reached, endSeconds);
  }
  return secondsOf(longest) > MAX_WORDLESS_SECONDS ? longest : null;
}

function clear(steps: Uint8Array, { startSeconds, endSeconds }: Span): void {
  steps.fill(0, Math.round(startSeconds * STEPS_PER_SECOND), Math.round(endSeconds * STEPS_PER_SECOND));
}

/** Returns the total seconds of windows in which at least `leastSeconds` are set. */
function crowdedSeconds(steps: Uint8Array, widthSeconds: number, leastSeconds: number): number {
  const width = widthSeconds * STEPS_PER_SECOND;
  let count = 0;
  let reached = 0;
  let found = 0;
  for (let end = 1; end <= steps.length; end++) {
    count += (steps[end - 1] ?? 0) - (end > width ? (steps[end - 1 - width] ?? 0) : 0);
    if (count < leastSeconds * STEPS_PER_SECOND) continue;
    found += end - Math.max(reached, end - width);
    reached = end;
  }
  return found / STEPS_PER_SECOND;
}

/** Returns the span of a word without the time that it got from omitted words. */
export function spoken({ text, startSeconds, endSeconds }: WhisperWord): Span {
  const longest = SPOKEN_SECONDS.base + SPOKEN_SECONDS.perLetter * text.length;
  return { startSeconds, endSeconds: Math.min(endSeconds, startSeconds + longest) };
}
