import { FRAME_SAMPLES } from "../../blocks/index.ts";
import { frameDecibels } from "../silences.ts";

/** What counts as clear speech. docs/quality.md has the curves. */
export const clearSpeech = {
  /**
   * Minimum difference between the loud and the quiet level of clear speech. In all 60 meetings in rooms that were not
   * sealed (see docs/quality.md), with noise of 5 to 20 dB, the difference is at most 26 dB; in excerpts of AMI from
   * headsets at least 30 dB.
   */
  minClearDecibels: 28,
  /** Parts of the frames that are quieter than the quiet level, and than the loud one. */
  quietPart: 0.1,
  loudPart: 0.95,
};

/**
 * Returns whether noise reaches far up to the speech in samples; also if they contain nothing else. Noise mostly comes
 * with the reverberation of a distant microphone, in which the older network misses half of the speech: see
 * docs/decisions/0024-speaker-diarization.md.
 */
export function isNoisy(samples: Float32Array): boolean {
  const { minClearDecibels, quietPart, loudPart } = clearSpeech;
  const levels = frameDecibels(samples, FRAME_SAMPLES).sort();
  const level = (part: number) => levels[Math.floor(part * (levels.length - 1))] ?? 0;
  return level(loudPart) - level(quietPart) < minClearDecibels;
}
