import { inputArguments, MEMORY_LIMIT_BYTES } from "./ffmpeg-input.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
import type { ProbedRecording } from "./probe.ts";
import type { FfmpegRun } from "./run-ffmpeg.ts";

/** A run of ffmpeg over a recording's audio track. */
export interface DecodePlan {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  readonly trackIndex: number;
  /** Length of the longest accepted recording. */
  readonly maxSeconds: number;
  readonly outputs: readonly DecodeOutput[];
  readonly signal: AbortSignal | undefined;
}

export interface DecodeOutput {
  /**
   * Path of the output file. If null, nothing is stored: ffmpeg's framecrc muxer lists the packets on standard output.
   */
  readonly path: string | null;
  readonly filters: readonly string[];
}

/** Builds the ffmpeg run for a plan. The caller adds the reader of ffmpeg's progress. */
export function decodeRun(plan: DecodePlan): FfmpegRun {
  const { ffmpegPath, inputPath, maxSeconds, signal } = plan;
  const timeoutSeconds = decodeTimeoutSeconds(maxSeconds);
  const limits = {
    memoryBytes: MEMORY_LIMIT_BYTES,
    cpuSeconds: timeoutSeconds,
    outputBytes: (maxSeconds + 2) * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE,
  };
  const outputPaths = plan.outputs.flatMap(({ path }) => path ?? []);
  return { ffmpegPath, inputPath, outputPaths, arguments: decodeArguments(plan), limits, timeoutSeconds, signal };
}

function decodeArguments({ inputPath, trackIndex, maxSeconds, outputs }: DecodePlan): string[] {
  const outputArguments = outputs.flatMap(({ path, filters }) => [
    // The extra second distinguishes a recording that is too long from one of exactly the permitted length. It also
    // bounds the cost of a header with a false length.
    ...outputArgumentsOf(trackIndex, filters, 1, maxSeconds + 1),
    ...["-c:a", "pcm_s16le"],
    ...(path === null ? ["-f", "framecrc", "pipe:1"] : ["-f", "s16le", "-y", `file:${path}`]),
  ]);
  const isKept = outputs.some(({ path }) => path !== null);
  return [
    ...["-loglevel", "error", "-nostats"],
    // The used disk space is measured at every progress report.
    ...(isKept ? ["-progress", "pipe:1", "-stats_period", "0.2"] : []),
    ...openArguments(inputPath),
    ...outputArguments,
  ];
}

/** Returns the arguments that open a recording so that its filters see the time stamps of its container. */
export function openArguments(inputPath: string): string[] {
  return ["-filter_threads", "1", "-copyts", ...inputArguments(inputPath)];
}

/**
 * Returns the arguments of one output: the filtered track at the sample rate of all PCM, without the file's metadata
 * and chapters.
 */
export function outputArgumentsOf(
  trackIndex: number,
  filters: readonly string[],
  channels: 1 | 2,
  mostSeconds: number,
): string[] {
  return [
    ...["-map", `0:a:${trackIndex}`, "-map_metadata", "-1", "-map_chapters", "-1"],
    ...["-af", filters.join(",")],
    ...["-ac", String(channels), "-ar", String(PCM_SAMPLE_RATE_HZ), "-t", String(mostSeconds)],
  ];
}

/** Returns the filter for one of two channels. A mono span appears on both channels. */
export function channelFilter(channel: 0 | 1): string {
  return `aformat=channel_layouts=stereo,pan=mono|c0=c${channel}`;
}

/**
 * Returns the filter that mixes a track to mono, or no filter for layouts that ffmpeg mixes itself. Channels without a
 * known position are mixed with equal weight. Of an ambisonic layout, only the first channel is used: it records sound
 * from all directions.
 */
export function mixFilter({ channels, channelLayout }: ProbedRecording): string[] {
  if (channelLayout.startsWith("ambisonic")) return ["pan=mono|c0=c0"];
  if (channels === null || !/^\d+ channels/.test(channelLayout)) return [];
  const sum = Array.from({ length: channels }, (_, channel) => `c${channel}`).join("+");
  return [`pan=mono|c0<${sum}`];
}

// Decoding runs at 200 to 1500 times real time on one core (test corpus: mp3, aac, opus, flac). The limit of a tenth of
// the maximum length, ten times real time, suits a machine whose cores are all busy with transcription.
function decodeTimeoutSeconds(maxSeconds: number): number {
  return 60 + maxSeconds / 10;
}

/**
 * Returns a reader of ffmpeg's `key=value` progress lines. It calls `onTime` with the output position, in seconds, of
 * each report.
 */
export function progressReader(onTime: (seconds: number) => void): (text: string) => void {
  return lineReader((line) => {
    const time = /^out_time_us=(\d+)$/.exec(line);
    if (time !== null) onTime(Number(time[1]) / 1e6);
  });
}

/** Returns a reader that calls `onLine` for each complete line. The text may arrive split at any position. */
export function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}
