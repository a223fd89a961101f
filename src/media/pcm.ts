import { open } from "node:fs/promises";

/** Sample rate of all PCM in the product, which the recognizer and the diarization models require. */
export const PCM_SAMPLE_RATE_HZ = 16_000;
/** Bytes per sample: signed 16-bit little-endian, mono. */
export const PCM_BYTES_PER_SAMPLE = 2;

const READ_BYTES = 1 << 20;

/**
 * Computes a digest of a PCM file; returns null if the file does not exist. The digest detects accidental changes, not
 * intentional ones. An hour of PCM takes 0.1 s.
 */
export async function pcmDigest(path: string, signal?: AbortSignal): Promise<string | null> {
  const file = await open(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const chunk = new Uint8Array(READ_BYTES);
    for (let digest = 0n; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(chunk, 0, READ_BYTES);
      if (bytesRead === 0) return digest.toString(16);
      digest = Bun.hash.wyhash(chunk.subarray(0, bytesRead), digest);
    }
  } finally {
    await file.close();
  }
}
