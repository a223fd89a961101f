import { HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../timeline/index.ts";
import type { BlockActivity } from "./activity.ts";

/** Speech is clean if a local speaker's probability exceeds HEARD while all others are below OTHERS. */
const HEARD = 0.5;
const OTHERS = 0.3;
/** Minimum clean speech, in frames, for using only the clean speech of a voice (0.4 s). */
const FEWEST_CLEAN_FRAMES = 24;
/** Minimum speech of any kind, in frames; a local speaker with less is ignored (0.1 s). */
const FEWEST_FRAMES = 6;
/** Minimum frames of a span that is embedded separately (0.6 s). Shorter spans characterise a voice poorly. */
const FEWEST_PIECE_FRAMES = 36;
/** Fragments are cut at window starts, so that overlapping windows have identical fragments. */
const CELL_FRAMES = HOP_FRAMES;

/** Frames `[start, end)` of the recording. */
export interface Stretch {
  start: number;
  end: number;
}

/** Speech of one local speaker that is to be embedded. */
export interface LocalVoice {
  /** Window of the recording, and the local speaker in that window. */
  window: number;
  local: number;
  /** Number of frames in which only this speaker is active; 0 if they are too few to use. */
  cleanFrames: number;
  /** Spans of clean speech in order, 0.6 to 2.7 s each. */
  pieces: Stretch[];
  /** Spans to join if `pieces` is empty: all clean speech, or all speech if the clean speech is too short. */
  scraps: Stretch[];
}

/** Returns the voices that are active in one window of a block; `window` is relative to the block's first window. */
export function localVoices(activity: BlockActivity, window: number): LocalVoice[] {
  const first = (activity.firstWindow + window) * HOP_FRAMES;
  const voices: LocalVoice[] = [];
  for (let local = 0; local < LOCAL_SPEAKERS; local++) {
    const heard = stretchesOf(first, (frame) => activity.probability(window, frame, local) > HEARD);
    if (framesIn(heard) < FEWEST_FRAMES) continue;
    const clean = stretchesOf(
      first,
      (frame) =>
        activity.probability(window, frame, local) > HEARD &&
        othersProbability(activity, window, frame, local) < OTHERS,
    );
    const isClear = framesIn(clean) >= FEWEST_CLEAN_FRAMES;
    const pieces = isClear ? clean.flatMap((stretch) => cut(stretch, first + WINDOW_FRAMES)) : [];
    voices.push({
      window: activity.firstWindow + window,
      local,
      cleanFrames: isClear ? framesIn(clean) : 0,
      pieces,
      scraps: pieces.length > 0 ? [] : isClear ? clean : heard,
    });
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

/**
 * Returns the spans of consecutive frames of a window that satisfy `isWanted`. @param first the window's first frame
 */
function stretchesOf(first: number, isWanted: (frame: number) => boolean): Stretch[] {
  const stretches: Stretch[] = [];
  for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
    if (!isWanted(frame)) continue;
    const last = stretches.at(-1);
    if (last?.end === first + frame) last.end++;
    else stretches.push({ start: first + frame, end: first + frame + 1 });
  }
  return stretches;
}

function framesIn(stretches: readonly Stretch[]): number {
  return stretches.reduce((total, { start, end }) => total + end - start, 0);
}

/**
 * Cuts a span at the cell boundaries. A fragment that is too short is merged into its neighbour, or dropped if it ends
 * at
 * the window's end, because the next window contains it whole.
 */
function cut({ start, end }: Stretch, windowEnd: number): Stretch[] {
  if (end - start < FEWEST_PIECE_FRAMES) return [];
  const pieces: Stretch[] = [];
  for (let at = start; at < end; ) {
    const next = Math.min(end, (Math.floor(at / CELL_FRAMES) + 1) * CELL_FRAMES);
    pieces.push({ start: at, end: next });
    at = next;
  }
  const isShort = ({ start: from, end: to }: Stretch) => to - from < FEWEST_PIECE_FRAMES;
  const [first, second] = pieces;
  if (first && second && isShort(first)) pieces.splice(0, 2, { start: first.start, end: second.end });
  const [before, last] = [pieces.at(-2), pieces.at(-1)];
  if (before && last && isShort(last)) {
    pieces.pop();
    if (last.end < windowEnd) before.end = last.end;
  }
  return pieces;
}
