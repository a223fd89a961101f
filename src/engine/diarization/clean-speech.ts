import type { BlockActivity } from "./activity.ts";
import { FRAME_SAMPLES, frameSample, HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "./grid.ts";
import { SLICE_SAMPLES } from "./models.ts";

/** A local speaker is heard in a frame from this probability on, and no other one below OTHERS. */
const HEARD = 0.5;
const OTHERS = 0.3;
/** Frames of clean speech under which a voice says too little of its own to found a speaker (0.4 s). */
const FEWEST_CLEAN_FRAMES = 24;
/** Frames of any speech under which it is left out altogether (0.1 s). */
const FEWEST_FRAMES = 6;
/** Frames of a slice. */
const SLICE_FRAMES = Math.ceil(SLICE_SAMPLES / FRAME_SAMPLES);
/**
 * Slices start on multiples of this many frames of the recording (0.8 s), so that the windows that overlap share them:
 * about one embedding per second of speech in all. Half of it gained nothing on the dialogues.
 */
const SLICE_GRID_FRAMES = 48;
/** Parts of a slice that must be clean speech of the one speaker, and that may be another's. */
const CLEAN_PART = 0.9;
const OTHERS_PART = 0.03;

/** What of a local speaker's voice is to be embedded. */
export interface LocalVoice {
  /** Window of the recording, and local speaker in it. */
  window: number;
  local: number;
  /** Frames in which this speaker is heard alone; 0 where they are too few to found a speaker on. */
  cleanFrames: number;
  /** First samples of whole slices of clean speech; empty where no stretch is long enough. */
  slices: number[];
  /** Where there is no slice: the samples `[start, end)` of clean speech, or of all speech where that is too little, to be joined. */
  pieces: { start: number; end: number }[];
}

/** The voices heard clearly enough in one window of a block (`window` counts from the block's first). */
export function localVoices(activity: BlockActivity, window: number): LocalVoice[] {
  const voices: LocalVoice[] = [];
  for (let local = 0; local < LOCAL_SPEAKERS; local++) {
    const heard = new Uint8Array(WINDOW_FRAMES);
    const clean = new Uint8Array(WINDOW_FRAMES);
    const foreign = new Uint8Array(WINDOW_FRAMES);
    for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
      const isForeign = othersProbability(activity, window, frame, local) >= OTHERS;
      foreign[frame] = isForeign ? 1 : 0;
      heard[frame] = activity.probability(window, frame, local) > HEARD ? 1 : 0;
      clean[frame] = isForeign ? 0 : (heard[frame] ?? 0);
    }
    if (sum(heard, 0, WINDOW_FRAMES) < FEWEST_FRAMES) continue;
    const isClear = sum(clean, 0, WINDOW_FRAMES) >= FEWEST_CLEAN_FRAMES;
    const cleanFrames = isClear ? sum(clean, 0, WINDOW_FRAMES) : 0;
    const first = (activity.firstWindow + window) * HOP_FRAMES;
    const slices = isClear ? sliceStarts(clean, foreign, first) : [];
    const pieces = slices.length > 0 ? [] : piecesOf(isClear ? clean : heard, first);
    voices.push({ window: activity.firstWindow + window, local, cleanFrames, slices, pieces });
  }
  return voices;
}

function othersProbability(activity: BlockActivity, window: number, frame: number, local: number): number {
  let most = 0;
  for (let other = 0; other < LOCAL_SPEAKERS; other++) {
    if (other !== local) most = Math.max(most, activity.probability(window, frame, other));
  }
  return most;
}

function sliceStarts(clean: Uint8Array, foreign: Uint8Array, first: number): number[] {
  const starts: number[] = [];
  const onGrid = Math.ceil(first / SLICE_GRID_FRAMES) * SLICE_GRID_FRAMES;
  for (let frame = onGrid - first; frame + SLICE_FRAMES <= WINDOW_FRAMES; frame += SLICE_GRID_FRAMES) {
    const isClean = sum(clean, frame, frame + SLICE_FRAMES) >= CLEAN_PART * SLICE_FRAMES;
    const isForeign = sum(foreign, frame, frame + SLICE_FRAMES) > OTHERS_PART * SLICE_FRAMES;
    if (isClean && !isForeign) starts.push(frameSample(first + frame));
  }
  return starts;
}

function piecesOf(wanted: Uint8Array, first: number): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
    if (wanted[frame] === 0) continue;
    const start = frameSample(first + frame);
    const last = pieces.at(-1);
    if (last?.end === start) last.end += FRAME_SAMPLES;
    else pieces.push({ start, end: start + FRAME_SAMPLES });
  }
  return pieces;
}

function sum(values: Uint8Array, start: number, end: number): number {
  let total = 0;
  for (let i = start; i < end; i++) total += values[i] ?? 0;
  return total;
}
