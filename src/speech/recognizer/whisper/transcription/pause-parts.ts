import { SAMPLE_RATE, type Span, secondsOf, shifted } from "../../../../timeline/index.ts";
import { findSilences } from "../../../silences.ts";

/** Minimum duration of a part; shorter ones say little about their language. */
const shortestSeconds = 2;

/**
 * Splits 16 kHz mono speech at its longest pauses into parts of at least 2 s, in order and without gaps.
 * @param instead possible cuts in seconds, used when noise hides all pauses
 */
export function pauseParts(samples: Float32Array, instead: readonly number[]): Span[] {
  const end = samples.length / SAMPLE_RATE;
  const silences = pausesOf(samples);
  const guesses = instead.map((at) => ({ startSeconds: at, endSeconds: at }));
  const pauses = (silences.length > 0 ? silences : guesses).filter(
    (pause) => pause.startSeconds > 0 && pause.endSeconds < end,
  );
  for (;;) {
    const parts = partsBetween(pauses, end);
    const short = parts.findIndex((part) => secondsOf(part) < shortestSeconds);
    if (short < 0 || pauses.length === 0) return parts;
    // Joins the part with the neighbour behind the shorter pause.
    const [before, after] = [pauses[short - 1], pauses[short]];
    const joinsNext = before === undefined || (after !== undefined && secondsOf(after) < secondsOf(before));
    pauses.splice(joinsNext ? short : short - 1, 1);
  }
}

/** Longest silence in a chunk. A longer one is speech that is far quieter than the rest, with pauses of its own. */
const longestSilenceSeconds = 2;

function pausesOf(samples: Float32Array): Span[] {
  return findSilences(samples).flatMap((silence) => {
    if (secondsOf(silence) <= longestSilenceSeconds) return [silence];
    const first = Math.round(silence.startSeconds * SAMPLE_RATE);
    const quiet = samples.subarray(first, Math.round(silence.endSeconds * SAMPLE_RATE));
    return findSilences(quiet).map((pause) => shifted(pause, first / SAMPLE_RATE));
  });
}

function partsBetween(pauses: readonly Span[], endSeconds: number): Span[] {
  const cuts = [0, ...pauses.map((pause) => (pause.startSeconds + pause.endSeconds) / 2), endSeconds];
  return cuts.slice(1).map((cut, index) => ({ startSeconds: cuts[index] ?? 0, endSeconds: cut }));
}
