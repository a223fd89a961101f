import { existsSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { wave } from "./bad-files/wave.ts";
import { mediaToolPath } from "./checkout.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export { ffmpegPath as FFMPEG, mediaToolPath as MEDIA_TOOL } from "./checkout.ts";

/** Returns whether a path exists, and prints which tests are skipped if not. */
export function available(path: string, what: string): boolean {
  if (existsSync(path)) return true;
  console.warn(`SKIPPED: ${what}; missing: ${path}`);
  return false;
}

/** Runs a test body in its own folder, which is removed afterwards. */
export async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  using folder = temporaryDirectory();
  return await body(folder.path);
}

/** Makes a file with ffmpeg's signal generators, for example with `lavfi("sine=duration=2")` as input. */
export function makeWithFfmpeg(...args: string[]): void {
  const made = Bun.spawnSync([mediaToolPath, "-nostdin", "-v", "error", "-y", ...args]);
  if (made.exitCode !== 0) throw new Error(`ffmpeg could not make a fixture: ${made.stderr.toString()}`);
}

export function lavfi(source: string): string[] {
  return ["-f", "lavfi", "-i", source];
}

export async function samplesOf(path: string): Promise<Int16Array> {
  return new Int16Array(await Bun.file(path).arrayBuffer());
}

export function loudness(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(samples.length, 1));
}

export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort();
}

/** Returns a WAVE file's 44-byte header for 16-bit PCM with any declared length. */
export function waveHeader(format: { channels: number; rateHz: number; claimedBytes: number }): Buffer {
  return wave(new Uint8Array(0), format);
}

/**
 * Writes a script in place of ffmpeg that imitates a fault. The confinement would not let it start a program, so it is
 * replaced too, by a script that only limits the CPU time.
 */
export async function fakeFfmpeg(folder: string, script: string): Promise<string> {
  const path = join(folder, "fake-ffmpeg");
  await writeProgram(path, script);
  await withoutConfinement(folder);
  return path;
}

/** Writes a replacement of the confining program that only limits the CPU time. */
export async function withoutConfinement(folder: string): Promise<void> {
  await writeProgram(
    join(folder, "confine"),
    'read -r _ || exit 126\nexec </dev/null\nwhile [ "$1" != -- ]; do [ "$1" != --cpu ] || ulimit -t "$2"; shift 2; done\nshift\nexec "$@"',
  );
}

async function writeProgram(path: string, script: string): Promise<void> {
  await Bun.write(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}
