import { rm } from "node:fs/promises";
import { join } from "node:path";
import { decodeRecording, MediaError, PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";

/** Result of a file: refused by the probe, decoded to a number of seconds, or failed with a fault. */
export type End =
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "decoded"; readonly seconds: number; readonly claimedSeconds: number | null }
  | { readonly kind: "failed"; readonly fault: string; readonly claimedSeconds: number | null };

/** A file, and whether a result of it is right. */
export interface BadFile {
  readonly name: string;
  readonly bytes: () => Uint8Array;
  readonly isRight: (end: End) => boolean;
}

/** Maximum length of recordings. Some of the files are made for it. */
const MAX_SECONDS = 1800;

/** Probes and decodes a file like an upload. Throws only errors other than MediaError. */
async function examine(path: string, ffmpegPath: string): Promise<End> {
  const [outputPath, secondOutputPath] = [`${path}.pcm`, `${path}.second.pcm`];
  let claimedSeconds: number | null = null;
  try {
    const probed = await probeRecording(ffmpegPath, path);
    if (!probed.ok) return { kind: "refused", reason: probed.reason };
    claimedSeconds = probed.durationSeconds;
    const request = { ffmpegPath, inputPath: path, outputPath, secondOutputPath, maxSeconds: MAX_SECONDS };
    const { sampleCount } = await decodeRecording(request);
    return { kind: "decoded", seconds: sampleCount / PCM_SAMPLE_RATE_HZ, claimedSeconds };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { kind: "failed", fault: error.fault, claimedSeconds };
  } finally {
    await Promise.all([outputPath, secondOutputPath].map((left) => rm(left, { force: true })));
  }
}

/**
 * Probes and decodes files, each stored under `folder` like an upload, two at a time.
 * @returns the results by name, descriptions of the wrong ones, and the longest time of a file
 */
export async function examineAll(files: readonly BadFile[], folder: string, ffmpegPath: string) {
  const ends = new Map<string, End>();
  const wrong: string[] = [];
  let slowestSeconds = 0;
  const rest = files.values();
  const lane = async (number: number) => {
    for (const { name, bytes, isRight } of rest) {
      const path = join(folder, `upload-${number}`);
      await Bun.write(path, bytes());
      const since = performance.now();
      const end = await examine(path, ffmpegPath);
      slowestSeconds = Math.max(slowestSeconds, (performance.now() - since) / 1000);
      ends.set(name, end);
      if (!isRight(end)) wrong.push(`${name}: ${JSON.stringify(end)}`);
    }
  };
  await Promise.all([0, 1].map(lane));
  return { ends, wrong, slowestSeconds };
}
