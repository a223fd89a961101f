import { FRAME_SAMPLES } from "../../blocks/index.ts";
import { frameDecibels } from "../silences.ts";

/** Limits from which speech counts as reverberant. docs/quality.md has their curves. */
export const drySpeech = {
  /**
   * Minimum fall of the level after loud sounds in dry speech, in decibels within FALL_FRAMES. A reverberation time of 0.2 s
   * alone falls by 15 dB. The quickest falls of meetings in rooms (see docs/quality.md) are at most 13 dB, with little
   * noise at most 17 dB; those of AMI excerpts from headsets at least 17 dB, and of dialogues at least 18 dB.
   */
  minFallDecibels: 15,
  /** Part of the falls that are slower than the one that counts. */
  fallPart: 0.98,
};
/** Frames within which the level falls (51 ms). */
const FALL_FRAMES = 3;
/** Part of the frames that are quieter than the loud level, and the distance below it from which a frame is loud. */
const LOUD_PART = 0.95;
const LOUD_DECIBELS = 10;

/**
 * Returns whether even the quickest falls of the level are slow, as in a room far from the microphone: the older network
 * misses half of the speech there. Loud noise also makes them slow, and so does the lack of speech. See
 * docs/decisions/0024-speaker-diarization.md for other measures.
 */
export function isReverberant(samples: Float32Array): boolean {
  const levels = frameDecibels(samples, FRAME_SAMPLES);
  const loud = quantile(levels, LOUD_PART) - LOUD_DECIBELS;
  const falls = levels
    .subarray(0, Math.max(0, levels.length - FALL_FRAMES))
    .map((level, frame) => (level > loud ? level - (levels[frame + FALL_FRAMES] ?? 0) : Number.NaN))
    .filter((fall) => !Number.isNaN(fall));
  return quantile(falls, drySpeech.fallPart) < drySpeech.minFallDecibels;
}

/** Returns the value that a part of the values is below; 0 if there are none. */
function quantile(values: Float64Array, part: number): number {
  return values.toSorted()[Math.floor(part * (values.length - 1))] ?? 0;
}
