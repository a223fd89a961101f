import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../tools/shared/checkout.ts";

export { root };

/** The ffmpeg that decodes recordings. It has few encoders and filters. */
export const ffmpegPath = join(root, "build/ffmpeg/ffmpeg");

/** A complete ffmpeg, which makes the recordings of tests. */
export const mediaToolPath = join(root, "build/media-tool/ffmpeg");

/** Returns the path of a sample that scripts/setup fetches: `jfk.mp3`, `sample.wav`, `sample.rttm`, `sample.stm`. */
export function samplePath(name: string): string {
  return join(root, "build/samples", name);
}

/** The recordings that the repository contains, with their manifest. */
export const recordingsFolder = join(root, "test/recordings");

/** Returns a path in the corpus that scripts/setup makes of the repository's recordings. */
export function corpusPath(path: string): string {
  return join(root, "build/recordings", path);
}

/** Returns whether all paths exist. If not, it prints which tests are skipped. */
export function available(what: string, ...paths: readonly string[]): boolean {
  const missing = paths.filter((path) => !existsSync(path)).map((path) => relative(root, path));
  if (missing.length > 0) console.warn(`SKIPPED: ${what}; missing: ${missing.join(", ")}`);
  return missing.length === 0;
}
