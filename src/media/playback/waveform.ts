import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "../pcm.ts";

/** Peak rate of a stored waveform. */
const PEAKS_PER_SECOND = 10;
const SAMPLES_PER_PEAK = PCM_SAMPLE_RATE_HZ / PEAKS_PER_SECOND;
const LOUDEST_SAMPLE = 2 ** 15;

/**
 * Converts the largest sample of a peak to a byte: 255 times the square root of its fraction of full scale. At -40 dB,
 * a whisper is then a tenth of a shout, which matches perceived loudness, and not a hundredth.
 */
const byteOf = (sample: number) => Math.min(255, Math.round(255 * Math.sqrt(sample / LOUDEST_SAMPLE)));

/** Computes the peaks of PCM (16-bit, interleaved, in chunks of any length) without storing the PCM. */
export class PeakMeter {
  readonly #channels: 1 | 2;
  readonly #peaks: number[] = [];
  #rest = new Uint8Array(0);
  #frames = 0;
  #loudest = 0;
  #products = 0;
  #left = 0;
  #right = 0;

  constructor(channels: 1 | 2) {
    this.#channels = channels;
  }

  /** Number of samples per channel so far. */
  get sampleCount(): number {
    return this.#frames;
  }

  /** Correlation of the two channels, -1 to 1; 0 if a channel is silent or there is only one. */
  get correlation(): number {
    const both = Math.sqrt(this.#left * this.#right);
    return both === 0 ? 0 : this.#products / both;
  }

  get louderChannel(): 0 | 1 {
    return this.#right > this.#left ? 1 : 0;
  }

  push(chunk: Uint8Array): void {
    const frameBytes = this.#channels * PCM_BYTES_PER_SAMPLE;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % frameBytes);
    // A typed array of 16-bit numbers requires an even byte offset.
    const even = bytes.byteOffset % PCM_BYTES_PER_SAMPLE === 0 ? bytes : bytes.slice();
    const samples = new Int16Array(even.buffer, even.byteOffset, whole / PCM_BYTES_PER_SAMPLE);
    this.#rest = bytes.slice(whole);
    if (this.#channels === 2) this.#compare(samples);
    this.#measure(samples);
  }

  /** Returns one byte for each tenth of a second, the last one for the remainder; see byteOf. */
  peaks(): Uint8Array {
    const hasRemainder = this.#frames % SAMPLES_PER_PEAK !== 0;
    return Uint8Array.from(hasRemainder ? [...this.#peaks, byteOf(this.#loudest)] : this.#peaks);
  }

  #measure(samples: Int16Array): void {
    const perPeak = SAMPLES_PER_PEAK * this.#channels;
    for (let at = 0; at < samples.length; ) {
      const inPeak = (this.#frames % SAMPLES_PER_PEAK) * this.#channels;
      const end = Math.min(samples.length, at + perPeak - inPeak);
      let loudest = this.#loudest;
      for (let index = at; index < end; index++) {
        const sample = samples[index] ?? 0;
        const size = sample < 0 ? -sample : sample;
        if (size > loudest) loudest = size;
      }
      this.#loudest = loudest;
      this.#frames += (end - at) / this.#channels;
      if (this.#frames % SAMPLES_PER_PEAK === 0) {
        this.#peaks.push(byteOf(loudest));
        this.#loudest = 0;
      }
      at = end;
    }
  }

  #compare(samples: Int16Array): void {
    let [products, left, right] = [this.#products, this.#left, this.#right];
    for (let index = 0; index < samples.length; index += 2) {
      const l = samples[index] ?? 0;
      const r = samples[index + 1] ?? 0;
      products += l * r;
      left += l * l;
      right += r * r;
    }
    [this.#products, this.#left, this.#right] = [products, left, right];
  }
}

interface WaveformRange {
  /** Default: 0. */
  readonly fromSeconds?: number;
  /** Default: the end of the recording. */
  readonly toSeconds?: number;
  /** Maximum number of peaks. Stored peaks are merged as needed. */
  readonly most: number;
}

/** Reads a waveform that encodeCopy wrote. Peaks of the same width start at the same times in any range. */
export async function readWaveform(path: string, range: WaveformRange) {
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
