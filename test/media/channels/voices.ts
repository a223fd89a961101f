import { randomNumbers } from "../../../harness/random-numbers.ts";
import { BLOCKS_PER_SECOND, type Levels, SILENCE_DECIBELS } from "../../../src/media/channels/levels.ts";

/** Power of each block of a channel. */
export type Powers = Float64Array;

/** Returns a voice that talks in these spans (seconds), in syllables of 0.1 to 0.3 s and 25 dB of depth. */
export function voice(
  seed: number,
  seconds: number,
  turns: readonly (readonly [number, number])[],
  decibels = -20,
): Powers {
  const random = randomNumbers(seed);
  const powers = new Float64Array(seconds * BLOCKS_PER_SECOND);
  let [left, loudness] = [0, 0];
  for (const block of powers.keys()) {
    if (left-- <= 0) {
      left = 4 + random() * 8;
      loudness = decibels - 25 * random() ** 2;
    }
    const at = block / BLOCKS_PER_SECOND;
    if (turns.some(([start, end]) => at >= start && at < end)) powers[block] = 10 ** ((loudness - 3 * random()) / 10);
  }
  return powers;
}

/** Returns constant noise. */
export function noise(seed: number, seconds: number, decibels: number): Powers {
  const random = randomNumbers(seed);
  return new Float64Array(seconds * BLOCKS_PER_SECOND).map(() => 10 ** ((decibels + random()) / 10));
}

/** Returns the same sound, quieter and later. */
export function delayed(powers: Powers, decibels: number, delayBlocks = 0): Powers {
  return powers.map((_, block) => (powers[block - delayBlocks] ?? 0) * 10 ** (decibels / 10));
}

/** Returns the levels of a channel that contains all of these. */
export function levelsOf(...all: readonly Powers[]): Levels {
  return Uint8Array.from(all[0] ?? [], (_, block) => {
    const power = all.reduce((sum, powers) => sum + (powers[block] ?? 0), 1e-12);
    return Math.max(0, Math.round((10 * Math.log10(power) - SILENCE_DECIBELS) * 2));
  });
}
