import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/** The checkout's root. */
export const root = resolve(import.meta.dir, "../..");

/** The checkout's ffmpeg, as scripts/setup lays it out. */
export const ffmpegPath = join(root, "build/ffmpeg/ffmpeg");

/** A recording that scripts/setup brings: `jfk.mp3`, `sample.wav`, `sample.rttm`, `sample.stm`. */
export function samplePath(name: string): string {
  return join(root, "build/samples", name);
}

/** The corpus beside the checkout, which not every machine has. */
export function corpusPath(path: string): string {
  return resolve(root, "../shared/audio", path);
}

/** Whether all of these are there; says aloud which tests are skipped when they are not. */
export function available(what: string, ...paths: readonly string[]): boolean {
  const missing = paths.filter((path) => !existsSync(path)).map((path) => relative(root, path));
  if (missing.length > 0) console.warn(`SKIPPED: ${what}; missing: ${missing.join(", ")}`);
  return missing.length === 0;
}
