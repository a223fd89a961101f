import { FRAME_SAMPLES, frameSample, WINDOW_FRAMES, WINDOW_SAMPLES } from "../../blocks/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";

// Turns are found on the grid of frames of FRAME_SAMPLES from the start of the session.

/** Returns the number of the frame that has a sample. */
export function frameOf(sample: number): number {
  return Math.floor(sample / FRAME_SAMPLES);
}

/** Returns the first sample of a frame. */
export function sampleOf(frame: number): number {
  return frame * FRAME_SAMPLES;
}

/** Returns a duration in frames, rounded. */
export function framesIn(seconds: number): number {
  return Math.round((seconds * SAMPLE_RATE) / FRAME_SAMPLES);
}

/** Frames of a segmentation window of which the last one ends before the window does. */
const FRAMES_TO_END = WINDOW_FRAMES;

/**
 * Returns the end of the segmentation window whose last frame is the one before `endFrame`, in samples. Its frames lie on
 * the grid.
 */
export function windowEnd(endFrame: number): number {
  return sampleOf(endFrame - FRAMES_TO_END) - frameSample(0) + WINDOW_SAMPLES;
}

/** Returns the frame after the last one that a window up to a sample can have. */
export function lastFrameWithin(sampleCount: number): number {
  return frameOf(sampleCount - WINDOW_SAMPLES + frameSample(0)) + FRAMES_TO_END;
}
