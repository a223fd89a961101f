import { open } from "node:fs/promises";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "../pcm.ts";

/** Samples of a block: 25 ms at 16 kHz, about a phone. */
export const BLOCK_SAMPLES = 400;
export const BLOCKS_PER_SECOND = PCM_SAMPLE_RATE_HZ / BLOCK_SAMPLES;
/** Lowest level in decibels; quieter blocks are not distinguished. 16-bit samples end at -96 dB. */
export const SILENCE_DECIBELS = -100;
export const LEVELS_PER_DECIBEL = 2;

/** Blocks per read: two seconds of a channel. Between two reads, the server's event loop can run. */
const READ_BLOCKS = 80;

/**
 * Loudness of each block of a channel, in half decibels above SILENCE_DECIBELS: a byte for 25 ms, 2.6 MB for 18 hours.
 */
export type Levels = Uint8Array;

/** Converts a level to decibels relative to full scale. */
export function decibelsOf(level: number): number {
  return SILENCE_DECIBELS + level / LEVELS_PER_DECIBEL;
}

/** The levels of two channels and the correlation of their samples. */
export interface MeasuredChannels {
  readonly left: Levels;
  readonly right: Levels;
  /** Correlation of the samples, -1 to 1; 0 where a channel is digitally silent. */
  readonly correlation: number;
}

/** Measures two files of 16 kHz mono s16le in parallel, up to the end of the shorter one. */
export async function measureChannels(
  leftPath: string,
  rightPath: string,
  signal?: AbortSignal,
): Promise<MeasuredChannels> {
  await using left = await open(leftPath, "r");
  await using right = await open(rightPath, "r");
  const sizes = await Promise.all([left.stat(), right.stat()]);
  const blocks = Math.floor(Math.min(...sizes.map(({ size }) => size)) / PCM_BYTES_PER_SAMPLE / BLOCK_SAMPLES);
  const levels = { left: new Uint8Array(blocks), right: new Uint8Array(blocks) };
  const samples = {
    left: new Int16Array(READ_BLOCKS * BLOCK_SAMPLES),
    right: new Int16Array(READ_BLOCKS * BLOCK_SAMPLES),
  };
  const whole = { left: 0, right: 0, both: 0 };
  for (let first = 0; first < blocks; first += READ_BLOCKS) {
    signal?.throwIfAborted();
    const count = Math.min(READ_BLOCKS, blocks - first);
    const position = first * BLOCK_SAMPLES * PCM_BYTES_PER_SAMPLE;
    const bytes = count * BLOCK_SAMPLES * PCM_BYTES_PER_SAMPLE;
    await Promise.all([
      left.read(new Uint8Array(samples.left.buffer), 0, bytes, position),
      right.read(new Uint8Array(samples.right.buffer), 0, bytes, position),
    ]);
    for (let block = 0; block < count; block++) {
      const energy = blockEnergy(samples.left, samples.right, block * BLOCK_SAMPLES);
      levels.left[first + block] = levelOf(energy.left);
      levels.right[first + block] = levelOf(energy.right);
      whole.left += energy.left;
      whole.right += energy.right;
      whole.both += energy.both;
    }
  }
  const scale = Math.sqrt(whole.left * whole.right);
  return { ...levels, correlation: scale === 0 ? 0 : whole.both / scale };
}

/** Computes sums of squares and products without the mean, because some recorders add a constant offset. */
function blockEnergy(left: Int16Array, right: Int16Array, start: number) {
  const energy = { left: 0, right: 0, both: 0 };
  const sums = { left: 0, right: 0 };
  for (let at = start; at < start + BLOCK_SAMPLES; at++) {
    const l = left[at] ?? 0;
    const r = right[at] ?? 0;
    sums.left += l;
    sums.right += r;
    energy.left += l * l;
    energy.right += r * r;
    energy.both += l * r;
  }
  energy.left -= sums.left ** 2 / BLOCK_SAMPLES;
  energy.right -= sums.right ** 2 / BLOCK_SAMPLES;
  energy.both -= (sums.left * sums.right) / BLOCK_SAMPLES;
  return energy;
}

/** Returns the level of a block from the sum of its squared samples. */
export function levelOf(energy: number): number {
  return levelAt(10 * Math.log10(energy / BLOCK_SAMPLES / 32_768 ** 2 + 1e-12));
}

/** Converts decibels relative to full scale to a level. */
export function levelAt(decibels: number): number {
  return Math.max(0, Math.round((decibels - SILENCE_DECIBELS) * LEVELS_PER_DECIBEL));
}
