import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm.ts";

export const WAV_HEADER_BYTES = 44;
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
