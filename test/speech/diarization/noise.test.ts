import { expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { isNoisy } from "../../../src/speech/diarization/noise.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";

/** Returns 20 s of noise, every third second of which is louder by this number of decibels. */
function sound(decibels: number, level = 0.2): Float32Array {
  const next = randomNumbers(1);
  return Float32Array.from({ length: 20 * SAMPLE_RATE }, (_, sample) => {
    const isLoud = Math.floor(sample / SAMPLE_RATE) % 3 === 0;
    return (isLoud ? 1 : 10 ** (-decibels / 20)) * level * (next() - 0.5);
  });
}

test("speech is noisy if what lies between it is not much quieter, at any loudness", () => {
  for (const level of [0.002, 0.02, 1]) {
    expect([isNoisy(sound(20, level)), isNoisy(sound(35, level))]).toEqual([true, false]);
  }
});

test("noise alone and silence are noisy", () => {
  expect([isNoisy(sound(0)), isNoisy(new Float32Array(SAMPLE_RATE)), isNoisy(new Float32Array())]).toEqual([
    true,
    true,
    true,
  ]);
});
