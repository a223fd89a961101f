import { SAMPLE_RATE } from "./sample-rate.ts";

/**
 * The one time grid of detection and diarization: everything is counted in model frames from the recording's start.
 *
 * The segmentation model puts out a frame every 270 samples; windows start on whole frames, so that what overlapping
 * windows say about one moment falls on the same frame.
 */

/** Samples from one frame of the segmentation model to the next (16.9 ms). */
export const FRAME_SAMPLES = 270;
/** Samples a frame looks at (the receptive field of the model's SincNet front). */
const FIELD_SAMPLES = 991;
/** Samples of a segmentation window: the 5 s that the model was trained on; 10 s windows doubled the errors. */
export const WINDOW_SAMPLES = 80_000;
/** Frames that the model gives for a window. */
export const WINDOW_FRAMES = 293;
/** Speakers that the model can tell apart in one window. */
export const LOCAL_SPEAKERS = 3;
/**
 * Frames from one window's start to the next (1.52 s). With the speakers given, steps of 1.01 s are no better, on the
 * built dialogues (6.6 against 6.7 % of errors) or on the AMI excerpts (25.3 against 23.9 %), and cost half as much again.
 */
export const HOP_FRAMES = 90;
/** Windows of a block, the unit of checkpointing: a block starts every 121.5 s. */
const WINDOWS_PER_BLOCK = 80;

const HOP_SAMPLES = HOP_FRAMES * FRAME_SAMPLES;

/** Seconds of recording from one block's start to the next. */
export const BLOCK_SECONDS = (WINDOWS_PER_BLOCK * HOP_SAMPLES) / SAMPLE_RATE;

/** Seconds from the recording's start to the beginning of what `frame` stands for, which is centred in its field. */
export function frameSeconds(frame: number): number {
  return frameSample(frame) / SAMPLE_RATE;
}

/** The first sample of what `frame` stands for. */
export function frameSample(frame: number): number {
  return frame * FRAME_SAMPLES + Math.floor((FIELD_SAMPLES - FRAME_SAMPLES) / 2);
}

/** The first sample of a window. */
export function windowSample(window: number): number {
  return window * HOP_SAMPLES;
}

/** Windows needed so that every sample of a recording lies in one; the last one may reach beyond its end. */
function windowCount(sampleCount: number): number {
  return Math.max(1, Math.ceil((sampleCount - WINDOW_SAMPLES) / HOP_SAMPLES) + 1);
}

/** Blocks that a recording of `sampleCount` samples has: at least one. */
export function blockCount(sampleCount: number): number {
  return Math.ceil(windowCount(sampleCount) / WINDOWS_PER_BLOCK);
}

/** The windows that start in a block: `[first, end)`. Throws a RangeError where the recording has no such block. */
export function blockWindows(sampleCount: number, block: number): { first: number; end: number } {
  if (!Number.isInteger(block) || block < 0 || block >= blockCount(sampleCount)) {
    throw new RangeError(`block ${block} of a recording with ${blockCount(sampleCount)} blocks`);
  }
  const first = block * WINDOWS_PER_BLOCK;
  return { first, end: Math.min(first + WINDOWS_PER_BLOCK, windowCount(sampleCount)) };
}
