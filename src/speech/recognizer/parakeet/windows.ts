import { SAMPLE_RATE } from "../../../timeline/index.ts";
import { findSilences, frameDecibels } from "../../silences.ts";

/** A part of a chunk, as sample numbers. */
export interface Window {
  readonly first: number;
  readonly end: number;
}

/**
 * Maximum length of a window. Attention is quadratic in it, and in long windows speech in other languages than English
 * drifts into English.
 */
const MAX_SAMPLES = 20 * SAMPLE_RATE;
/** Minimum length of the windows of a chunk that is cut. */
const MIN_SAMPLES = 5 * SAMPLE_RATE;
/** Width over which loudness is averaged when a chunk has no silence to cut at. */
const QUIET_SAMPLES = SAMPLE_RATE / 10;

/**
 * Cuts a chunk into windows of at most 20 s in the middle of its longest silences, or where it is quietest. The model
 * gets exactly these samples: added silence changes its words.
 */
export function cutWindows(samples: Float32Array): Window[] {
  const windows: Window[] = [];
  let first = 0;
  while (samples.length - first > MAX_SAMPLES) {
    const end = first + cutPoint(samples.subarray(first));
    windows.push({ first, end });
    first = end;
  }
  return [...windows, { first, end: samples.length }];
}

/** Returns the sample at which the first window ends; samples that are at most twice too long give two windows. */
function cutPoint(samples: Float32Array): number {
  const least = Math.max(MIN_SAMPLES, Math.min(samples.length - MAX_SAMPLES, MAX_SAMPLES / 2));
  const most = Math.min(MAX_SAMPLES, samples.length - MIN_SAMPLES);
  const within = findSilences(samples)
    .map(({ startSeconds, endSeconds }) => ({
      seconds: endSeconds - startSeconds,
      middle: Math.round(((startSeconds + endSeconds) / 2) * SAMPLE_RATE),
    }))
    .filter(({ middle }) => middle >= least && middle <= most);
  if (within.length > 0) return within.reduce((best, one) => (one.seconds > best.seconds ? one : best)).middle;
  const loudness = frameDecibels(samples.subarray(least, most), QUIET_SAMPLES);
  const quietest = loudness.indexOf(Math.min(...loudness));
  return least + quietest * QUIET_SAMPLES + QUIET_SAMPLES / 2;
}
