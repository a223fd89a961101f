import { type ChannelGains, centreOf, fixedLayout, isMixOfMany, mixFilters } from "../ffmpeg-arguments.ts";
import { energyOf, type MeasuredFile, measureSound, SoundLevels } from "../measure-sound.ts";
import type { AudioTrack } from "../probe.ts";
import { INVERTED_CORRELATION } from "./compare-channels.ts";
import { levelOf } from "./levels.ts";

/** The front centre has the voices of films. ffmpeg's own mix of 5.1 gives it about this weight. */
const CENTRE_GAIN = 2;

/**
 * Returns the filters that mix a track to mono. Three and more channels are measured first. The mix is the mean of those
 * that may have sound, whatever they are called, and of all if none has: recorders of several microphones give their
 * channels the names of any layout. A channel that is the inverse of one before it is turned around. The mix never clips.
 * @throws the signal's reason after an abort
 */
export async function chooseMix(file: MeasuredFile, track: AudioTrack): Promise<string[]> {
  const { channels } = track;
  if (channels === null || !isMixOfMany(track)) return mixFilters(track);
  const measured = new MeasuredMix(channels);
  await measureSound(file, {
    ...{ trackIndex: track.index, channels, filters: fixedLayout(track) },
    onBlock: (samples) => measured.add(samples),
  });
  return mixFilters(track, measured.gains(centreOf(track)));
}

/** Pairs of channels of which all samples are compared: those of 8. Of more pairs, as many fewer samples are. */
const WHOLE_PAIRS = 36;

/** The levels of each channel, and the products of the samples of each pair. */
class MeasuredMix {
  readonly #channels: number;
  readonly #levels: readonly SoundLevels[];
  /** Sums of products: element `a * channels + b`. */
  readonly #products: Float64Array;
  /** Number of samples from one that is compared to the next one. 64 channels have 2080 pairs. */
  readonly #step: number;

  constructor(channels: number) {
    this.#channels = channels;
    this.#levels = Array.from({ length: channels }, () => new SoundLevels());
    this.#products = new Float64Array(channels * channels);
    this.#step = Math.ceil((channels * (channels + 1)) / 2 / WHOLE_PAIRS);
  }

  /** Adds a block. @returns whether every channel has sound */
  add(samples: Int16Array): boolean {
    const count = this.#channels;
    for (const [channel, levels] of this.#levels.entries()) levels.add(levelOf(energyOf(samples, channel, count)));
    for (let a = 0; a < count; a++) {
      for (let b = 0; b <= a; b++) {
        let sum = 0;
        for (let at = 0; at < samples.length; at += count * this.#step) {
          sum += (samples[at + a] as number) * (samples[at + b] as number);
        }
        this.#products[a * count + b] = (this.#products[a * count + b] ?? 0) + sum;
      }
    }
    return this.#levels.every(({ hasSound }) => hasSound);
  }

  gains(centre: number): ChannelGains {
    const isQuiet = !this.#levels.some(({ mayHaveSound }) => mayHaveSound);
    const gains: number[] = [];
    for (const [channel, { mayHaveSound }] of this.#levels.entries()) {
      const gain = !isQuiet && !mayHaveSound ? 0 : channel === centre ? CENTRE_GAIN : 1;
      gains.push(gain * this.#signOf(channel, gains));
    }
    return gains;
  }

  /** Returns -1 for a channel that is the inverse of one before it as that one is mixed. */
  #signOf(channel: number, before: ChannelGains): 1 | -1 {
    for (const [other, gain] of before.entries()) {
      const correlation = this.#correlation(channel, other);
      if (gain !== 0 && Math.abs(correlation) > -INVERTED_CORRELATION) return correlation * gain < 0 ? -1 : 1;
    }
    return 1;
  }

  #correlation(a: number, b: number): number {
    const product = (row: number, column: number) => this.#products[row * this.#channels + column] ?? 0;
    const scale = Math.sqrt(product(a, a) * product(b, b));
    return scale === 0 ? 0 : product(a, b) / scale;
  }
}
