import { rm } from "node:fs/promises";
import { join } from "node:path";
import { decodeRecording, MediaError, PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";

/** Result of a file: refused by the probe, decoded to a number of seconds, or failed with a fault. */
export type End =
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "decoded"; readonly seconds: number; readonly claimedSeconds: number | null }
  | { readonly kind: "failed"; readonly fault: string; readonly claimedSeconds: number | null };

export interface LookOptions {
  readonly ffmpegPath: string;
  readonly maxSeconds: number;
}

/** Probes and decodes a file like an upload. Throws only errors other than MediaError. */
export async function examine(path: string, { ffmpegPath, maxSeconds }: LookOptions): Promise<End> {
  const outputPath = `${path}.pcm`;
  let claimedSeconds: number | null = null;
  try {
    const probed = await probeRecording(ffmpegPath, path);
    if (!probed.ok) return { kind: "refused", reason: probed.reason };
    claimedSeconds = probed.durationSeconds;
    const secondOutputPath = `${path}.second.pcm`;
    const request = { ffmpegPath, inputPath: path, outputPath, secondOutputPath, maxSeconds };
    const { sampleCount } = await decodeRecording(request);
    return { kind: "decoded", seconds: sampleCount / PCM_SAMPLE_RATE_HZ, claimedSeconds };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { kind: "failed", fault: error.fault, claimedSeconds };
  } finally {
    await Promise.all([outputPath, `${path}.second.pcm`].map((left) => rm(left, { force: true })));
  }
}

/** Probes and decodes files, each stored under `folder` like an upload, with one at a time per processor. */
export async function examineAll(
  files: Iterable<readonly [name: string, bytes: () => Uint8Array]>,
  folder: string,
  options: LookOptions,
  onEnd: (name: string, end: End, seconds: number) => void,
): Promise<void> {
  const rest = files[Symbol.iterator]();
  const lane = async (number: number) => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      const [name, bytes] = next.value;
      const path = join(folder, `upload-${number}`);
      await Bun.write(path, bytes());
      const since = performance.now();
      const end = await examine(path, options);
      onEnd(name, end, (performance.now() - since) / 1000);
    }
  };
  await Promise.all([0, 1].map(lane));
}
