import type { Answers, Outline } from "../../../contract/index.ts";
import { speakerAt } from "../places.ts";

/** Loudness of a section of a recording: heights from 0 to 255 at a fixed rate. */
interface Peaks {
  readonly perSecond: number;
  readonly startSeconds: number;
  readonly values: Uint8Array;
}

/** A section of a recording, in seconds. */
export interface View {
  readonly from: number;
  readonly to: number;
}

export interface Bar {
  /** Middle of the bar's time range, in seconds. */
  readonly seconds: number;
  /** 0 to 1. */
  readonly height: number;
  /** Index of the speaker; -1: nobody. */
  readonly speaker: number;
}

/** Height of a bar while the loudness is unknown, with and without speech. */
const SPEECH_HEIGHT = 0.4;
const SILENCE_HEIGHT = 0.06;

export function peaksOf({ peaks, peaks_per_second, start_seconds }: Answers["waveform"]): Peaks {
  const values = Uint8Array.from(atob(peaks), (byte) => byte.charCodeAt(0));
  return { perSecond: peaks_per_second, startSeconds: start_seconds, values };
}

/**
 * Returns the bars of a waveform: the maximum loudness in each bar's time range, and the speaker.
 * @param peaks null: the loudness is unknown
 */
export function barsOf(peaks: Peaks | null, outline: Outline, { from, to }: View, count: number): Bar[] {
  const width = (to - from) / count;
  return Array.from({ length: count }, (_, index) => {
    const begin = from + index * width;
    const seconds = begin + width / 2;
    const speaker = speakerAt(outline, seconds);
    const plain = speaker >= 0 ? SPEECH_HEIGHT : SILENCE_HEIGHT;
    return { seconds, speaker, height: peaks === null ? plain : loudest(peaks, begin, begin + width) };
  });
}

function loudest({ perSecond, startSeconds, values }: Peaks, from: number, to: number): number {
  const first = Math.max(0, Math.floor((from - startSeconds) * perSecond));
  const last = Math.max(first, Math.ceil((to - startSeconds) * perSecond) - 1);
  let most = 0;
  for (let index = first; index <= last; index++) most = Math.max(most, values[index] ?? 0);
  return Math.max(SILENCE_HEIGHT, most / 255);
}

/** Shortest section that the waveform zooms to, in seconds. */
const MIN_VIEW_SECONDS = 20;

/** Returns the visible section at a magnification: around a time, within the recording. */
export function viewAround(seconds: number, durationSeconds: number, magnification: number): View {
  const length = Math.min(durationSeconds, Math.max(MIN_VIEW_SECONDS, durationSeconds / magnification));
  const from = Math.max(0, Math.min(durationSeconds - length, seconds - length / 2));
  return { from, to: from + length };
}

/** Returns a view as the server reads it: in whole milliseconds, without losing an end. */
export function rangeOf({ from, to }: View): { readonly from: string; readonly to: string } {
  return { from: (Math.floor(from * 1000) / 1000).toFixed(3), to: (Math.ceil(to * 1000) / 1000).toFixed(3) };
}

/** Returns whether a higher magnification would show a shorter section. */
export function canMagnify(durationSeconds: number, magnification: number): boolean {
  return durationSeconds / magnification > MIN_VIEW_SECONDS;
}
