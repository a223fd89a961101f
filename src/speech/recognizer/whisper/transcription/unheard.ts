import { SAMPLE_RATE, type Span, secondsOf } from "../../../../timeline/index.ts";
import { findSilences } from "../silences.ts";
import type { WhisperWord } from "../types.ts";

/** Sound is counted in steps of 10 ms. */
const stepsPerSecond = 100;
/** Within so much of a chunk, so much sound without words is more than words that are timed badly leave. */
const windowSeconds = 5;
const mostSoundSeconds = 2.4;
/**
 * Before the first word and after the last one a chunk has no more sound than so much: of 83 chunks of the corpus, on the
 * telephone and in noise too, all had less than 0.8 s but one, with 1.2 s, at whose end four words were left out.
 */
const mostEdgeSeconds = 1;
/** No chunk has a silence of more than 2 s: so long without a word, somebody speaks, be it 50 dB quieter than the rest. */
const mostWordlessSeconds = 3;
/** Of a word so much counts as spoken: a start, and so much for each letter. */
const spokenSeconds = { base: 0.25, perLetter: 0.09 };

/**
 * Tells whether whisper left something out, as it now and then does with a sentence in the middle of a chunk, and spreads
 * the words next to it over its time: where there is sound that lasts, or nothing for long, and no word. Found on four of
 * 103 chunks of the corpus, in each of which a sentence or more was missing.
 * @returns how many seconds are thus in doubt; 0 where nothing is
 */
export function unheardSeconds(samples: Float32Array, words: readonly WhisperWord[]): number {
  const wordless = new Uint8Array(Math.floor((samples.length / SAMPLE_RATE) * stepsPerSecond)).fill(1);
  for (const word of words) clear(wordless, spoken(word));
  const found = crowdedSeconds(wordless, mostWordlessSeconds, mostWordlessSeconds);
  const silences = findSilences(samples);
  // where sound can't be told from silence there is none of it to count
  if (silences.length === 0) return found;
  for (const silence of silences) clear(wordless, silence);
  return Math.max(found, crowdedSeconds(wordless, windowSeconds, mostSoundSeconds), edgeSeconds(wordless, words));
}

/** Seconds that are set before the first word and after the last one, each where there are many. */
function edgeSeconds(steps: Uint8Array, words: readonly WhisperWord[]): number {
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const before = steps.subarray(0, Math.round(first.startSeconds * stepsPerSecond));
  const after = steps.subarray(Math.round(spoken(last).endSeconds * stepsPerSecond));
  return [before, after]
    .map((edge) => edge.reduce((sum, step) => sum + step, 0) / stepsPerSecond)
    .filter((seconds) => seconds > mostEdgeSeconds)
    .reduce((sum, seconds) => sum + seconds, 0);
}

/** The longest stretch without a word where it is longer than silence in a chunk can be; null where none is. */
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
  return secondsOf(longest) > mostWordlessSeconds ? longest : null;
}

function clear(steps: Uint8Array, { startSeconds, endSeconds }: Span): void {
  steps.fill(0, Math.round(startSeconds * stepsPerSecond), Math.round(endSeconds * stepsPerSecond));
}

/** Seconds in windows of which at least so many seconds are set. */
function crowdedSeconds(steps: Uint8Array, widthSeconds: number, leastSeconds: number): number {
  const width = widthSeconds * stepsPerSecond;
  let count = 0;
  let reached = 0;
  let found = 0;
  for (let end = 1; end <= steps.length; end++) {
    count += (steps[end - 1] ?? 0) - (end > width ? (steps[end - 1 - width] ?? 0) : 0);
    if (count < leastSeconds * stepsPerSecond) continue;
    found += end - Math.max(reached, end - width);
    reached = end;
  }
  return found / stepsPerSecond;
}

/** A word without the time that words left out have lent it. */
export function spoken({ text, startSeconds, endSeconds }: WhisperWord): Span {
  const longest = spokenSeconds.base + spokenSeconds.perLetter * text.length;
  return { startSeconds, endSeconds: Math.min(endSeconds, startSeconds + longest) };
}
