import { PEAKS_PER_SECOND } from "./peak-meter.ts";

/** Part of a recording's waveform, or all of it. */
interface Waveform {
  readonly peaksPerSecond: number;
  /** Start time of the first peak. */
  readonly startSeconds: number;
  /**
   * The largest sample of each interval: 0 for silence, 255 for full scale, in between proportional to the square root
   * of the amplitude.
   */
  readonly peaks: Uint8Array;
}

interface WaveformRange {
  /** Default: 0. */
  readonly fromSeconds?: number;
  /** Default: the end of the recording. */
  readonly toSeconds?: number;
  /**
   * Maximum number of peaks. Stored peaks are merged as needed, so that the answer for 18 hours is as small as that for
   * a minute.
   */
  readonly most: number;
}

/**
 * Reads a waveform that makeListeningCopy wrote. Peaks of the same width always start at the same times, independent of
 * the requested range.
 */
export async function readWaveform(path: string, range: WaveformRange): Promise<Waveform> {
  const finest = await Bun.file(path).bytes();
  const from = Math.max(0, Math.floor((range.fromSeconds ?? 0) * PEAKS_PER_SECOND));
  const to = Math.min(finest.length, Math.ceil((range.toSeconds ?? Number.POSITIVE_INFINITY) * PEAKS_PER_SECOND));
  const width = Math.max(1, Math.ceil((to - from) / range.most));
  const first = Math.floor(from / width);
  const peaks = new Uint8Array(Math.max(0, Math.min(range.most, Math.ceil(to / width) - first)));
  for (let index = 0; index < peaks.length; index++) {
    const start = (first + index) * width;
    let loudest = 0;
    for (let at = start; at < start + width; at++) loudest = Math.max(loudest, finest[at] ?? 0);
    peaks[index] = loudest;
  }
  return { peaksPerSecond: PEAKS_PER_SECOND / width, startSeconds: (first * width) / PEAKS_PER_SECOND, peaks };
}
