import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available } from "../../../../harness/checkout.ts";
import { type RandomModelOptions, tinyModel, writeRandomModel } from "../../../../harness/parakeet/random-model.ts";
import { isCpuLibrary, loadGgml, rateCpuLibrary } from "../../../../src/runtimes/index.ts";
import type { NativeState, NativeTranscript, ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { linesOf } from "../../../support/run-script.ts";
import { nativeDirectory, readSamples } from "../../../support/whisper.ts";

/** Returns whether the addon is built; prints what is skipped without it. */
export function hasAddon(what: string): boolean {
  return available(what, join(nativeDirectory, "whisper.node"));
}

/** The addon with the best CPU variant and no GPU. */
export function openAddon(): ParakeetAddon {
  return loadGgml({ nativeDirectory }).addon as ParakeetAddon;
}

/** Writes a model with random weights into a directory. @returns its path */
export function writeModel(directory: string, options: RandomModelOptions = tinyModel): string {
  const path = join(directory, "parakeet.bin");
  writeRandomModel(path, options);
  return path;
}

/** Returns the CPU variants that are built and that this processor supports, the fastest first. */
export function cpuVariants(): string[] {
  if (!existsSync(join(nativeDirectory, "whisper.node"))) return [];
  const rate = (file: string) => rateCpuLibrary(nativeDirectory, file);
  const usable = readdirSync(nativeDirectory).filter((file) => isCpuLibrary(file) && rate(file) > 0);
  return usable.sort((a, b) => rate(b) - rate(a));
}

/** The result of one clip from a process with one CPU variant. */
export interface Recognition {
  readonly clip: string;
  readonly threads: number;
  readonly steps: number[][];
  /** The encoder's output. */
  readonly encoded: Float32Array;
}

/** Recognizes all `*.f32` of a directory in a process with one CPU variant, on one and two threads. @param gpu library of a GPU */
export async function recognizeWith(
  variant: string,
  model: string,
  directory: string,
  gpu?: { readonly library: string; readonly environment: Readonly<Record<string, string>> },
): Promise<Recognition[]> {
  const args = [variant, model, directory, ...(gpu === undefined ? [] : [gpu.library])];
  const lines = await linesOf(join(import.meta.dir, "recognize-with.ts"), args, gpu?.environment);
  return await Promise.all(
    lines.map(async (line) => {
      const { output, ...rest } = JSON.parse(line) as Omit<Recognition, "encoded"> & { output: string };
      return { ...rest, encoded: new Float32Array(await Bun.file(output).arrayBuffer()) };
    }),
  );
}

/** Differences of an encoder's output, whose deviation is 1, from the reference's. */
export interface EncoderError {
  readonly largest: number;
  readonly rootMeanSquare: number;
}

/** Compares outputs of an encoder with those of the reference in 64 bits. */
export function encoderError(pairs: readonly { encoded: Float32Array; expected: ArrayLike<number> }[]): EncoderError {
  const errors = pairs.flatMap(({ encoded, expected }) =>
    Array.from(encoded, (value, i) => Math.abs(value - (expected[i] ?? Number.NaN))),
  );
  const squares = errors.reduce((total, error) => total + error ** 2, 0);
  return {
    largest: errors.reduce((most, error) => Math.max(most, error), 0),
    rootMeanSquare: Math.sqrt(squares / errors.length),
  };
}

/** Returns a function that gives speech of any length, in seconds: a recording over and over. */
export async function repeatedSpeech(): Promise<(seconds: number) => Float32Array> {
  const speech = await readSamples("formats/jfk.flac");
  return (seconds) =>
    Float32Array.from({ length: Math.round(seconds * 16_000) }, (_, i) => speech[i % speech.length] ?? 0);
}

export const stepsOf = ({ tokens }: NativeTranscript) => tokens.map(({ id, frame, duration }) => [id, frame, duration]);

/**
 * Expects that a state ends within 0.2 s of an abort, at a share of a window's time, and can be used again.
 * @returns the window's time in milliseconds
 */
export async function expectQuickAbort(state: NativeState, samples: Float32Array, share: number): Promise<number> {
  const start = performance.now();
  const whole = await state.transcribe(samples, 1);
  const needed = performance.now() - start;
  const ends: number[] = [];
  // On a busy machine an attempt may take longer, but always a part of the window's time.
  const allowed = Math.min(needed / 2, Math.max(200, needed / 4));
  for (let attempt = 0; attempt < 10 && Math.min(...ends) > allowed; attempt++) {
    const running = state.transcribe(samples, 1);
    await Bun.sleep(needed * share);
    const aborted = performance.now();
    state.abort();
    expect(await running).toEqual({ aborted: true, tokens: [] });
    ends.push(performance.now() - aborted);
  }
  expect(Math.min(...ends)).toBeLessThan(allowed);
  expect(stepsOf(await state.transcribe(samples, 1))).toEqual(stepsOf(whole));
  return needed;
}
