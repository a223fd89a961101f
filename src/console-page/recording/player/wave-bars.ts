import type { Outline, Waveform } from "../../../console/contract.ts";
import { speakerAt } from "../places.ts";

/** Loudness over a stretch of a recording: a height from 0 to 255 for each piece of it. */
export interface Peaks {
  readonly perSecond: number;
  readonly startSeconds: number;
  readonly values: Uint8Array;
}

/** A stretch of a recording. */
export interface View {
  readonly from: number;
  readonly to: number;
}

export interface Bar {
  /** Middle of what it stands for, in seconds. */
  readonly seconds: number;
  /** 0 to 1. */
  readonly height: number;
  /** Place of who speaks among the speakers; -1: nobody. */
  readonly speaker: number;
}

/** What a bar measures where how loud it was is not known: somebody speaks, or nobody. */
const speechHeight = 0.4;
const silenceHeight = 0.06;

export function peaksOf({ peaks, peaks_per_second, start_seconds }: Waveform): Peaks {
  const values = Uint8Array.from(atob(peaks), (byte) => byte.charCodeAt(0));
  return { perSecond: peaks_per_second, startSeconds: start_seconds, values };
}

/** Bars for a strip: how loud it is and who speaks, the loudest of each bar's time. @param peaks null: not known */
export function barsOf(peaks: Peaks | null, outline: Outline, { from, to }: View, count: number): Bar[] {
  const width = (to - from) / count;
  return Array.from({ length: count }, (_, index) => {
    const begin = from + index * width;
    const seconds = begin + width / 2;
    const speaker = speakerAt(outline, seconds);
    const plain = speaker >= 0 ? speechHeight : silenceHeight;
    return { seconds, speaker, height: peaks === null ? plain : loudest(peaks, begin, begin + width) };
  });
}

function loudest({ perSecond, startSeconds, values }: Peaks, from: number, to: number): number {
  const first = Math.max(0, Math.floor((from - startSeconds) * perSecond));
  const last = Math.max(first, Math.ceil((to - startSeconds) * perSecond) - 1);
  let most = 0;
  for (let index = first; index <= last; index++) most = Math.max(most, values[index] ?? 0);
  return Math.max(silenceHeight, most / 255);
}

/** Shortest stretch that the strip is widened to, in seconds. */
const closest = 20;

/** The stretch that is shown at a magnification: around a time, within the recording. */
export function viewAround(seconds: number, durationSeconds: number, magnification: number): View {
  const length = Math.min(durationSeconds, Math.max(closest, durationSeconds / magnification));
  const from = Math.max(0, Math.min(durationSeconds - length, seconds - length / 2));
  return { from, to: from + length };
}

/** Whether a magnification shows less than half of it does. */
export function canMagnify(durationSeconds: number, magnification: number): boolean {
  return durationSeconds / magnification > closest;
}
