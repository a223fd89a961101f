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

const WAV_HEADER_BYTES = 44;
/** Largest number that the sizes of the format can hold. */
const MAX_SIZE = 0xffff_ffff;

/**
 * Returns the header of a WAV file with 16-bit mono samples. Sizes above 4 GiB are written as the largest number, with
 * which ffmpeg reads to the end of the file.
 * @param sampleBytes total size of the samples
 */
export function wavHeader(sampleBytes: number, sampleRate: number = PCM_SAMPLE_RATE_HZ): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF");
  header.writeUInt32LE(Math.min(WAV_HEADER_BYTES - 8 + sampleBytes, MAX_SIZE), 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * PCM_BYTES_PER_SAMPLE, 28); // bytes per second
  header.writeUInt16LE(PCM_BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * PCM_BYTES_PER_SAMPLE, 34);
  header.write("data", 36);
  header.writeUInt32LE(Math.min(sampleBytes, MAX_SIZE), 40);
  return header;
}
