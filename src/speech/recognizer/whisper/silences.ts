import { SAMPLE_RATE, type Span } from "../../../timeline/index.ts";
import { frameDecibels } from "../../frame-decibels.ts";

/** 10 ms. */
const frameSamples = 160;
const frameSeconds = frameSamples / SAMPLE_RATE;

/** Quieter than this below the loud parts counts as no quieter: below it lies digital silence. */
const deepestDecibels = 45;
/** Where the quiet parts are less than this below the loud ones, nothing can be told apart. */
const leastContrastDecibels = 12;
/** How far up from the quiet towards the loud parts, in decibels, speech begins. */
const threshold = 0.3;
/** Shorter pauses are the closures of stops within words. */
const shortestSeconds = 0.18;
/** A click between two silences, not speech. */
const shortestSoundFrames = 3;

/**
 * Finds the pauses of 16 kHz mono speech by loudness, relative to the loud and quiet parts of the same samples; in
 * seconds from their start.
 *
 * Tuned on ten built English dialogues with base: of 138 turns all first words begin and 99 % of last words end
 * within 0.2 s of their turn, where by alignment alone 32 % end so; thresholds from 0.25 to 0.45 do alike.
 */
export function findSilences(samples: Float32Array): Span[] {
  const loudness = frameDecibels(samples, frameSamples);
  if (loudness.length === 0) {
    return [];
  }
  const sorted = Float64Array.from(loudness).sort();
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const loud = at(0.95);
  const quiet = Math.max(at(0.1), loud - deepestDecibels);
  if (loud - quiet < leastContrastDecibels) {
    return [];
  }
  return quietRuns(loudness, quiet + threshold * (loud - quiet));
}

function quietRuns(loudness: Float64Array, limit: number): Span[] {
  const runs: Span[] = [];
  let start = 0;
  let soundFrames = 0;
  const close = (end: number): void => {
    if ((end - start) * frameSeconds >= shortestSeconds) {
      runs.push({ startSeconds: start * frameSeconds, endSeconds: end * frameSeconds });
    }
  };
  for (let frame = 0; frame < loudness.length; frame++) {
    if ((loudness[frame] ?? 0) < limit) {
      if (soundFrames >= shortestSoundFrames) {
        close(frame - soundFrames);
        start = frame;
      }
      soundFrames = 0;
    } else {
      soundFrames++;
    }
  }
  close(loudness.length - (soundFrames >= shortestSoundFrames ? soundFrames : 0));
  return runs;
}
