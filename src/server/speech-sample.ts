import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeRecording } from "../media/index.ts";
import type { ProgramFiles } from "../program/index.ts";

/** The recording that the program carries is of eleven seconds. */
const maxSeconds = 60;

/** Decodes the recording that the program carries, for as long as it is in use: 16 kHz mono signed 16-bit samples. */
export async function withSpeechSample<T>(
  files: Pick<ProgramFiles, "ffmpeg" | "benchRecording">,
  use: (pcmPath: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "transcribe-sample-"));
  try {
    const outputPath = join(directory, "sample.pcm");
    await decodeRecording({ ffmpegPath: files.ffmpeg, inputPath: files.benchRecording, outputPath, maxSeconds });
    return await use(outputPath);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
