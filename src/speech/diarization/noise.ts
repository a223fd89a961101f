import { FRAME_SAMPLES } from "../../blocks/index.ts";
import { frameDecibels } from "../silences.ts";

/**
 * Minimum difference between the loud and the quiet frames of clear speech. In all 60 meetings in rooms that were not
 * sealed (see docs/quality.md), with noise of 5 to 20 dB, the difference is at most 26 dB; in excerpts of AMI from headsets
 * at least 30 dB.
 */
const MIN_CLEAR_DECIBELS = 28;
/** Parts of the frames that are quieter than the quiet level, and than the loud one. */
const QUIET = 0.1;
const LOUD = 0.95;

/**
 * Returns whether noise reaches far up to the speech in samples; also if they contain nothing else. Noise mostly comes
 * with the reverberation of a distant microphone, in which the older network misses half of the speech: see
 * docs/decisions/0024-speaker-diarization.md.
 */
export function isNoisy(samples: Float32Array): boolean {
  const levels = frameDecibels(samples, FRAME_SAMPLES).sort();
  const level = (part: number) => levels[Math.floor(part * (levels.length - 1))] ?? 0;
  return level(LOUD) - level(QUIET) < MIN_CLEAR_DECIBELS;
}
