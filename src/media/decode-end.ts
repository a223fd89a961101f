import { dirname } from "node:path";
import { MachineError, probeWriting } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { EXIT_OUT_OF_MEMORY } from "./ffmpeg-input.ts";
import { MediaError } from "./media-error.ts";
import { PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
import type { FfmpegEnd } from "./run-ffmpeg.ts";

/** Operating system errors that prevent writing: the error number and the message that ffmpeg prints. */
const CANNOT_WRITE = [
  { errno: 28, words: "No space left on device" },
  { errno: 122, words: "Disk quota exceeded" },
  { errno: 30, words: "Read-only file system" },
  { errno: 24, words: "Too many open files" },
  { errno: 23, words: "Too many open files in system" },
] as const;

/**
 * Distinguishes faults of the machine from a damaged recording, which is not a fault.
 * @param outputPath path of the output file; the file must still exist, because a disk that it filled would otherwise
 * not be detected as full
 * @returns the message with which ffmpeg blames the machine although a test write succeeds, because decoders also exit
 * with these codes on bad files; null if ffmpeg does not blame the machine
 * @throws {MediaError} `disk_full` when the test write fails, `ffmpeg_crashed` after a signal, `not_a_recording` or
 * `ffmpeg_out_of_memory` at the memory limit
 */
export async function checkEnd(end: FfmpegEnd, sampleCount: number, outputPath: string): Promise<string | null> {
  const blamed = CANNOT_WRITE.find(
    ({ errno, words }) => end.exitCode === 256 - errno || end.messages.includes(`: ${words}\n`),
  );
  if (blamed !== undefined) {
    const trouble = await probeWriting(dirname(outputPath));
    if (trouble === null) return blamed.words;
    const code = "code" in trouble && typeof trouble.code === "string" ? trouble.code : "";
    const cause = new MachineError(code, messageOf(trouble));
    throw new MediaError("disk_full", `the decoded recording can't be written: ${blamed.words}`, { cause });
  }
  if (end.signalName !== null && !end.flooded) {
    throw new MediaError("ffmpeg_crashed", `ffmpeg was ended by ${end.signalName} after ${sampleCount} samples`);
  }
  if (end.exitCode === EXIT_OUT_OF_MEMORY) {
    const why = "decoding takes more than 1 GiB of memory; send it converted, e.g. to FLAC of 16 kHz";
    if (sampleCount === 0) throw new MediaError("not_a_recording", `nothing of the recording can be decoded: ${why}`);
    const seconds = Math.floor(sampleCount / PCM_SAMPLE_RATE_HZ);
    throw new MediaError("ffmpeg_out_of_memory", `only ${seconds} s of the recording can be decoded: ${why}`);
  }
  return null;
}
