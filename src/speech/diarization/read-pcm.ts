import { open } from "node:fs/promises";
import type { PcmFile } from "../../timeline/index.ts";

const BYTES_PER_SAMPLE = 2;
const FULL_SCALE = 32_768;

/**
 * Reads a span of a PCM file as floats in [-1, 1], and pads with silence beyond the recording's end.
 * @param start first sample, from 0
 * @throws {Error} of `open` if the file cannot be read, or if it ends too early
 */
export async function readPcm({ path, sampleCount }: PcmFile, start: number, length: number): Promise<Float32Array> {
  await using file = await open(path, "r");
  const samples = new Float32Array(length);
  const wanted = Math.max(0, Math.min(length, sampleCount - start));
  const bytes = Buffer.alloc(wanted * BYTES_PER_SAMPLE);
  for (let filled = 0; filled < bytes.length; ) {
    const position = start * BYTES_PER_SAMPLE + filled;
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, position);
    if (bytesRead === 0) throw new Error(`the PCM ends after ${position} bytes, before the recording does`);
    filled += bytesRead;
  }
  for (let at = 0; at < wanted; at++) samples[at] = bytes.readInt16LE(at * BYTES_PER_SAMPLE) / FULL_SCALE;
  return samples;
}
