import { join } from "node:path";
import { available } from "../../../../harness/checkout.ts";
import { type RandomModelOptions, tinyModel, writeRandomModel } from "../../../../harness/parakeet/random-model.ts";
import { loadGgml } from "../../../../src/speech/ggml.ts";
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
