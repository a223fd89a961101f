import { type FileHandle, open } from "node:fs/promises";
import type { PcmFile } from "../../timeline/index.ts";

const BYTES_PER_SAMPLE = 2;
const FULL_SCALE = 32_768;

/** Reader of spans of a PCM file as floats in [-1, 1]. Holds one file handle, never the whole recording. */
export class PcmReader implements AsyncDisposable {
  private constructor(
    private readonly handle: FileHandle,
    private readonly sampleCount: number,
  ) {}

  /** Opens the file; throws the error of `open` if it cannot be read. */
  static async open(pcm: PcmFile): Promise<PcmReader> {
    return new PcmReader(await open(pcm.path, "r"), pcm.sampleCount);
  }

  /** Reads `length` samples from sample `start` (`start` ≥ 0) and pads with silence beyond the recording's end. */
  async read(start: number, length: number): Promise<Float32Array> {
    const samples = new Float32Array(length);
    const wanted = Math.max(0, Math.min(length, this.sampleCount - start));
    const bytes = Buffer.alloc(wanted * BYTES_PER_SAMPLE);
    let filled = 0;
    while (filled < bytes.length) {
      const position = start * BYTES_PER_SAMPLE + filled;
      const { bytesRead } = await this.handle.read(bytes, filled, bytes.length - filled, position);
      if (bytesRead === 0) throw new Error(`the PCM ends after ${position} bytes, before the recording does`);
      filled += bytesRead;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, filled);
    for (let i = 0; (i + 1) * BYTES_PER_SAMPLE <= filled; i++) {
      samples[i] = view.getInt16(i * BYTES_PER_SAMPLE, true) / FULL_SCALE;
    }
    return samples;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}
