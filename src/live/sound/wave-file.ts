import { open } from "node:fs/promises";
import { PCM_BYTES_PER_SAMPLE, wavHeader } from "../../media/index.ts";

const PIECE_BYTES = 1024 * 1024;

/**
 * Copies the samples of a session's file into a new WAV file, which is durable when this resolves.
 * @param sampleCount number of samples to copy; the file has at least as many
 * @returns the size of the WAV file
 * @throws the signal's reason when it is aborted
 */
export async function writeWaveFile(
  pcmPath: string,
  sampleCount: number,
  wavePath: string,
  signal: AbortSignal,
): Promise<number> {
  await using pcm = await open(pcmPath, "r");
  await using wave = await open(wavePath, "wx", 0o600);
  const bytes = sampleCount * PCM_BYTES_PER_SAMPLE;
  const header = wavHeader(bytes);
  await wave.writeFile(header);
  const buffer = Buffer.alloc(Math.min(PIECE_BYTES, bytes));
  for (let at = 0; at < bytes; ) {
    signal.throwIfAborted();
    const { bytesRead } = await pcm.read(buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (bytesRead === 0) throw new Error(`the sound of the session ends after ${at} of ${bytes} bytes`);
    await wave.writeFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  await wave.sync();
  return header.length + bytes;
}
