import { open } from "node:fs/promises";
import { join } from "node:path";
import { decodeRecording, PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "../../media/index.ts";
import type { PcmFile } from "../../timeline/index.ts";

/**
 * Length of the recording: longer than one detection block (122 s), like real recordings. It repeats the clip of eleven
 * seconds.
 */
const recordingSeconds = 130;

/**
 * Creates a recording of continuous speech from the clip that the program contains.
 * @param directory directory of the created files
 */
export async function makeBenchRecording(
  options: { readonly ffmpegPath: string; readonly clip: string },
  directory: string,
  signal: AbortSignal,
): Promise<PcmFile> {
  const decoded = join(directory, "clip.pcm");
  await decodeRecording({
    ffmpegPath: options.ffmpegPath,
    inputPath: options.clip,
    outputPath: decoded,
    maxSeconds: 60,
    signal,
  });
  const clip = await Bun.file(decoded).bytes();
  const bytes = recordingSeconds * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE;
  const path = join(directory, "recording.pcm");
  await using file = await open(path, "w");
  for (let written = 0; written < bytes; written += clip.length) {
    await file.write(clip, 0, Math.min(clip.length, bytes - written));
  }
  return { path, sampleCount: bytes / PCM_BYTES_PER_SAMPLE };
}
