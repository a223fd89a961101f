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
  const file = Bun.file(path);
  if (!(await file.exists())) return null;
  let digest = 0n;
  for (let at = 0; at < file.size; at += READ_BYTES) {
    signal?.throwIfAborted();
    digest = Bun.hash.wyhash(await file.slice(at, at + READ_BYTES).bytes(), digest);
  }
  return digest.toString(16);
}
