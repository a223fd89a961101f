import { dirname } from "node:path";
import { MachineError, probeWriting } from "../disk/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { EXIT_OUT_OF_MEMORY, outputArgumentsOf, timedInputArguments } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import type { FfmpegEnd, FfmpegRun, InputFile } from "./run-ffmpeg.ts";

/** A run of ffmpeg over a recording's audio track. */
export interface DecodePlan extends InputFile {
  readonly trackIndex: number;
  /** Length of the longest accepted recording. */
  readonly maxSeconds: number;
  readonly outputs: readonly {
    /** Path of the output file. If null, ffmpeg's framecrc muxer only lists the packets on standard output. */
    readonly path: string | null;
    readonly filters: readonly string[];
  }[];
}

/** Builds the ffmpeg run for a plan. The caller adds the listener for ffmpeg's output. */
export function decodeRun(plan: DecodePlan): FfmpegRun {
  const { ffmpegPath, inputPath, trackIndex, maxSeconds, outputs, signal } = plan;
  // Decoding runs at 200 to 1500 times real time on one core (test corpus: mp3, aac, opus, flac). Ten times real time
  // suits a machine whose cores are all busy with transcription.
  const timeoutSeconds = 60 + maxSeconds / 10;
  const outputPaths = outputs.flatMap(({ path }) => path ?? []);
  return {
    ...{ ffmpegPath, inputPath, outputPaths, timeoutSeconds, signal },
    arguments: [
      ...["-loglevel", "error", "-nostats"],
      // The used disk space is measured at every progress report.
      ...(outputPaths.length > 0 ? ["-progress", "pipe:1", "-stats_period", "0.2"] : []),
      ...timedInputArguments(inputPath),
      ...outputs.flatMap(({ path, filters }) => [
        // The extra second distinguishes a recording that is too long from one of exactly the permitted length. It also
        // bounds the cost of a header with a false length.
        ...outputArgumentsOf(trackIndex, filters, 1, maxSeconds + 1),
        ...["-c:a", "pcm_s16le"],
        ...(path === null ? ["-f", "framecrc", "pipe:1"] : ["-f", "s16le", "-y", `file:${path}`]),
      ]),
    ],
    cpuSeconds: timeoutSeconds,
    outputBytes: (maxSeconds + 2) * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE,
  };
}

/** Operating system errors that prevent writing: the error number and the message that ffmpeg prints. */
const CANNOT_WRITE = [
  { errno: 28, message: "No space left on device" },
  { errno: 122, message: "Disk quota exceeded" },
  { errno: 30, message: "Read-only file system" },
  { errno: 24, message: "Too many open files" },
  { errno: 23, message: "Too many open files in system" },
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
export async function checkFfmpegEnd(end: FfmpegEnd, sampleCount: number, outputPath: string): Promise<string | null> {
  const blamed = CANNOT_WRITE.find(
    ({ errno, message }) => end.exitCode === 256 - errno || end.messages.includes(`: ${message}\n`),
  );
  if (blamed !== undefined) {
    const fault = await probeWriting(dirname(outputPath));
    if (fault === null) return blamed.message;
    const cause = new MachineError(codeOf(fault), messageOf(fault));
    throw new MediaError("disk_full", `the decoded recording can't be written: ${blamed.message}`, { cause });
  }
  if (end.signalName !== null && !end.flooded) {
    throw new MediaError("ffmpeg_crashed", `ffmpeg was killed by ${end.signalName} after ${sampleCount} samples`);
  }
  if (end.exitCode === EXIT_OUT_OF_MEMORY) {
    const advice = "decoding takes more than 1 GiB of memory; send it converted, e.g. to FLAC of 16 kHz";
    if (sampleCount === 0) throw new MediaError("not_a_recording", `the recording can't be decoded: ${advice}`);
    const seconds = Math.floor(sampleCount / PCM_SAMPLE_RATE_HZ);
    throw new MediaError("ffmpeg_out_of_memory", `only ${seconds} s of the recording can be decoded: ${advice}`);
  }
  return null;
}
