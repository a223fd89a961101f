import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available } from "../../../../harness/checkout.ts";
import { type RandomModelOptions, tinyModel, writeRandomModel } from "../../../../harness/parakeet/random-model.ts";
import { isCpuLibrary, loadGgml, rateCpuLibrary } from "../../../../src/speech/ggml.ts";
import type { ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { nativeDirectory } from "../whisper/support.ts";

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

/** Recognizes all `*.f32` of a directory in a process with one CPU variant, on one and two threads. */
export async function recognizeWith(variant: string, model: string, directory: string): Promise<Recognition[]> {
  const script = join(import.meta.dir, "recognize-with.ts");
  const child = Bun.spawn([process.execPath, script, variant, model, directory], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  if ((await child.exited) !== 0) throw new Error(`${variant} failed`);
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
