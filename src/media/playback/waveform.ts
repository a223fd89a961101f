import { PEAKS_PER_SECOND } from "./peak-meter.ts";

/** Part of a recording's waveform, or all of it. */
interface Waveform {
  readonly peaksPerSecond: number;
  /** Of its first peak. */
  readonly startSeconds: number;
  /** The loudest sample of each stretch: 0 for silence, 255 for full scale, in between the root of its amplitude. */
  readonly peaks: Uint8Array;
}

interface WaveformRange {
  /** 0 where it is left out. */
  readonly fromSeconds?: number;
  /** The recording's end where it is left out. */
  readonly toSeconds?: number;
  /** Of peaks: as many of the finest ones become one as it takes, so that 18 hours are as small an answer as a minute. */
  readonly most: number;
}

/** Reads a waveform that makeListeningCopy wrote. Peaks of the same width lie at the same times, whatever range is asked for. */
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
