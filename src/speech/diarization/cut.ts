import { FRAME_SAMPLES, frameSample, frameSeconds } from "../../timeline/index.ts";
import { frameDecibels } from "../frame-decibels.ts";
import type { PcmReader } from "./pcm.ts";

/** Consecutive frames with speech, and the probability of speech in each. */
export interface Run {
  firstFrame: number;
  levels: number[];
}

/** Minimum length of the part before a cut; prevents many short regions. */
const SHORTEST_CUT_SECONDS = 12;
/**
 * Number of frames over which speech strength is averaged (0.19 s). It makes cuts fall into pauses and not into stop
 * consonants.
 */
const CUT_FRAMES = 11;
/**
 * Loudness range below the loudest frame. Frames below this range count as equally quiet, because all of them are
 * pauses.
 */
const DEEPEST_DECIBELS = 40;

/**
 * Cuts a run at its weakest frame between 12 s and `longestSeconds`; among equal frames, the later one wins. Loudness
 * counts as much as the probability of speech. In continuous speech, the probability stays at 1 through the pauses
 * between words.
 */
export async function cutRun(run: Run, longestSeconds: number, reader: PcmReader): Promise<[Run, Run]> {
  const frames = run.levels.findIndex((_, frame) => lengthSeconds(frame + 1) > longestSeconds);
  const head = run.levels.slice(0, frames < 0 ? run.levels.length : frames);
  const loudness = await relativeLoudness(run.firstFrame, head.length, reader);
  const at = weakest(head.map((level, frame) => level + (loudness[frame] ?? 0)));
  return [
    { firstFrame: run.firstFrame, levels: run.levels.slice(0, at) },
    { firstFrame: run.firstFrame + at, levels: run.levels.slice(at) },
  ];
}

/** Returns the duration of a number of frames in seconds. */
export function lengthSeconds(frames: number): number {
  return frameSeconds(frames) - frameSeconds(0);
}

/** Returns each frame's loudness from 0 (40 dB or more below the loudest frame) to 1. */
async function relativeLoudness(firstFrame: number, frames: number, reader: PcmReader): Promise<number[]> {
  const samples = await reader.read(frameSample(firstFrame), frames * FRAME_SAMPLES);
  const decibels = frameDecibels(samples, FRAME_SAMPLES);
  const loudest = Math.max(...decibels);
  return Array.from(decibels, (value) => Math.max(0, 1 - (loudest - value) / DEEPEST_DECIBELS));
}

/** Returns the frame with the smallest sum of strengths around it; among equal frames, the later one. */
function weakest(strengths: readonly number[]): number {
  const half = (CUT_FRAMES - 1) / 2;
  const earliest = strengths.findIndex((_, frame) => lengthSeconds(frame) >= SHORTEST_CUT_SECONDS);
  let best = strengths.length - 1 - half;
  let least = Number.POSITIVE_INFINITY;
  for (let frame = earliest; frame < strengths.length - half; frame++) {
    let sum = 0;
    for (let near = frame - half; near <= frame + half; near++) sum += strengths[near] ?? 0;
    if (sum <= least) {
      least = sum;
      best = frame;
    }
  }
  return best;
}
