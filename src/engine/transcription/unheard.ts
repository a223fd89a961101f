import type { WhisperWord } from "../whisper/index.ts";
import { findSilences, type Stretch } from "../whisper/silences.ts";

const sampleRate = 16_000;

/** Sound is counted in steps of 10 ms. */
const stepsPerSecond = 100;
/** Within so much of a chunk, so much sound without words is more than words that are timed badly leave. */
const windowSeconds = 5;
const mostSeconds = 2.4;
/** Of a word so much counts as spoken: a start, and so much for each letter. */
const spokenSeconds = { base: 0.25, perLetter: 0.09 };

/**
 * Finds where there is sound that lasts and no word: whisper now and then leaves out a sentence in the middle, and
 * spreads the words next to it over its time. Where sound can't be told from silence nothing is found.
 * @returns stretches in order, in seconds from the start of the samples
 */
export function findUnheard(samples: Float32Array, words: readonly WhisperWord[]): Stretch[] {
  const silences = findSilences(samples);
  if (silences.length === 0) return [];
  const steps = Math.floor((samples.length / sampleRate) * stepsPerSecond);
  const isOpen = new Uint8Array(steps).fill(1);
  const cover = ({ startSeconds, endSeconds }: Stretch) =>
    isOpen.fill(0, Math.round(startSeconds * stepsPerSecond), Math.round(endSeconds * stepsPerSecond));
  for (const silence of silences) cover(silence);
  for (const word of words) cover(spoken(word));
  const found: Stretch[] = [];
  const width = windowSeconds * stepsPerSecond;
  let open = 0;
  for (let end = 1; end <= steps; end++) {
    open += (isOpen[end - 1] ?? 0) - (end > width ? (isOpen[end - 1 - width] ?? 0) : 0);
    if (open < mostSeconds * stepsPerSecond) continue;
    const startSeconds = Math.max(0, end - width) / stepsPerSecond;
    const last = found.at(-1);
    if (last !== undefined && startSeconds <= last.endSeconds) last.endSeconds = end / stepsPerSecond;
    else found.push({ startSeconds, endSeconds: end / stepsPerSecond });
  }
  return found;
}

/** Without the time that words left out have lent it. */
function spoken({ text, startSeconds, endSeconds }: WhisperWord): Stretch {
  const longest = spokenSeconds.base + spokenSeconds.perLetter * text.length;
  return { startSeconds, endSeconds: Math.min(endSeconds, startSeconds + longest) };
}
