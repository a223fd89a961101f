import { HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../timeline/index.ts";
import type { BlockActivity } from "./activity.ts";

/** A local speaker is heard in a frame from this probability on, and no other one below OTHERS. */
const HEARD = 0.5;
const OTHERS = 0.3;
/** Frames of clean speech under which what is clean is not looked at by itself (0.4 s). */
const FEWEST_CLEAN_FRAMES = 24;
/** Frames of any speech under which a local speaker is left out altogether (0.1 s). */
const FEWEST_FRAMES = 6;
/** Frames of the shortest stretch that is embedded by itself (0.6 s): what is shorter says little about a voice. */
const FEWEST_PIECE_FRAMES = 36;
/** Pieces are cut where windows start, so that the windows that overlap have the same ones. */
const CELL_FRAMES = HOP_FRAMES;

/** Frames `[start, end)` of the recording. */
export interface Stretch {
  start: number;
  end: number;
}

/** What of a local speaker's voice is to be embedded. */
export interface LocalVoice {
  /** Window of the recording, and local speaker in it. */
  window: number;
  local: number;
  /** Frames in which this speaker is heard alone; 0 where they are too few to look at. */
  cleanFrames: number;
  /** Stretches of clean speech, 0.6 to 2.1 s each, in order. */
  pieces: Stretch[];
  /** Where there is no piece: all clean speech, or all speech where that is too little, to be joined. */
  scraps: Stretch[];
}

/** The voices heard in one window of a block (`window` counts from the block's first). */
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

/** Stretches of a window's frames that are wanted; `first` is its first frame. */
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
 * Cuts a stretch at the cells' borders. What is too short by itself goes to its neighbour, or is left out where it ends
 * with the window: the next window has it whole.
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
