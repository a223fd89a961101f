import { FRAME_SAMPLES, frameSample, frameSeconds } from "../../timeline/index.ts";
import { frameDecibels } from "../frame-decibels.ts";
import type { PcmReader } from "./pcm.ts";

/** Frames in a row in which somebody speaks, with the probability of speech in each. */
export interface Run {
  firstFrame: number;
  levels: number[];
}

/** A cut leaves at least this much on its left, lest it makes many short regions. */
const SHORTEST_CUT_SECONDS = 12;
/** A moment's strength is averaged over this many frames (0.19 s): a cut belongs into a pause, not into a stop consonant. */
const CUT_FRAMES = 11;
/** Quieter than this below the loudest moment counts as no quieter: both are pauses. */
const DEEPEST_DECIBELS = 40;

/**
 * Cuts a run at its weakest moment between 12 s and `longestSeconds`, the later one of equals. How loud it is counts as
 * much as how probable speech is: where one speaks on, the probability stays at 1 through pauses between words.
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

/** Seconds that so many frames take. */
export function lengthSeconds(frames: number): number {
  return frameSeconds(frames) - frameSeconds(0);
}

/** Loudness of each frame from 0, 40 dB and more below the loudest, to 1. */
async function relativeLoudness(firstFrame: number, frames: number, reader: PcmReader): Promise<number[]> {
  const samples = await reader.read(frameSample(firstFrame), frames * FRAME_SAMPLES);
  const decibels = frameDecibels(samples, FRAME_SAMPLES);
  const loudest = Math.max(...decibels);
  return Array.from(decibels, (value) => Math.max(0, 1 - (loudest - value) / DEEPEST_DECIBELS));
}

/** The frame around which the least is, the later one of equals. */
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
