import type { BlockActivity } from "./activity.ts";
import { HOP_FRAMES, WINDOW_FRAMES } from "./grid.ts";
import type { Voice } from "./voices.ts";

/** Probability from which a local speaker is heard. */
const HEARD = 0.5;
/** Frames in common from which two voices of overlapping windows can be linked, and that each of two voices in one needs. */
const FEWEST_FRAMES = 30;
/** Part of the frames of either that both must have. */
const AGREEMENT = 0.7;

/** What the segmentation model itself says about two voices, by their numbers. */
export interface Link {
  a: number;
  b: number;
}

/**
 * Numbers the voices of a recording, window by window, and finds which of them the segmentation model took for one
 * person (heard in the same frames of overlapping windows) and which for two (told apart within a window).
 */
export class LinkFinder {
  readonly same: Link[] = [];
  readonly apart: Link[] = [];
  private count = 0;
  private previous: { number: number; heard: Uint8Array }[] = [];

  /** Takes the next window's voices, which get the next numbers. `window` counts from the block's first. */
  add(activity: BlockActivity, window: number, voices: readonly Voice[]): void {
    const present = voices.map((voice, index) => ({
      number: this.count + index,
      cleanFrames: voice.cleanFrames,
      heard: heardFrames(activity, window, voice.local),
    }));
    this.count += voices.length;
    for (const [index, a] of present.entries()) {
      for (const b of present.slice(0, index)) {
        if (Math.min(a.cleanFrames, b.cleanFrames) >= FEWEST_FRAMES) this.apart.push({ a: a.number, b: b.number });
      }
      for (const b of this.previous) if (isSame(b.heard, a.heard)) this.same.push({ a: a.number, b: b.number });
    }
    this.previous = present;
  }
}

function heardFrames(activity: BlockActivity, window: number, local: number): Uint8Array {
  return Uint8Array.from({ length: WINDOW_FRAMES }, (_, frame) =>
    activity.probability(window, frame, local) > HEARD ? 1 : 0,
  );
}

function isSame(earlier: Uint8Array, later: Uint8Array): boolean {
  let both = 0;
  let either = 0;
  for (let frame = 0; frame + HOP_FRAMES < WINDOW_FRAMES; frame++) {
    const a = earlier[frame + HOP_FRAMES] ?? 0;
    const b = later[frame] ?? 0;
    both += a & b;
    either += a | b;
  }
  return both >= FEWEST_FRAMES && both > AGREEMENT * either;
}
