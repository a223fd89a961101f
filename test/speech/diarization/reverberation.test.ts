import { expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { isReverberant } from "../../../src/speech/diarization/reverberation.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";

/**
 * Returns 20 s of noise in bursts of half a second, which fall by 60 dB within a time, and noise without end below them.
 */
function bursts({ fallSeconds = 0.08, noiseDecibels = -60, level = 0.2 }): Float32Array {
  const next = randomNumbers(1);
  const floor = 10 ** (noiseDecibels / 20);
  return Float32Array.from({ length: 20 * SAMPLE_RATE }, (_, sample) => {
    const seconds = (sample / SAMPLE_RATE) % 1.5;
    const decay = 10 ** ((-3 * Math.max(0, seconds - 0.5)) / fallSeconds);
    return level * (decay * (next() - 0.5) + floor * (next() - 0.5));
  });
}

test("speech is reverberant if its level falls slowly, at any loudness", () => {
  for (const level of [0.002, 0.02, 1]) {
    const [dry, reverberant] = [0.08, 0.4].map((fallSeconds) => isReverberant(bursts({ fallSeconds, level })));
    expect({ level, dry, reverberant }).toEqual({ level, dry: false, reverberant: true });
  }
});

test("dry speech is reverberant only in loud noise", () => {
  const [quiet, loud] = [-40, -8].map((noiseDecibels) => isReverberant(bursts({ noiseDecibels })));
  expect({ quiet, loud }).toEqual({ quiet: false, loud: true });
});

test("noise alone and silence are reverberant", () => {
  const noise = bursts({ noiseDecibels: 20 });
  const all = [noise, new Float32Array(SAMPLE_RATE), new Float32Array(100), new Float32Array()];
  expect(all.map(isReverberant)).toEqual([true, true, true, true]);
});
