import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeRecording } from "../media/index.ts";
import type { ProgramFiles } from "../program/index.ts";

/** Maximum duration in seconds; the bundled recording has eleven seconds. */
const maxSeconds = 60;

/** Decodes the bundled recording to 16 kHz mono signed 16-bit samples, for the duration of `use`. */
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
