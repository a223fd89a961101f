import { inputArguments, MEMORY_LIMIT_BYTES } from "./ffmpeg-input.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
import type { ProbedRecording } from "./probe.ts";
import type { FfmpegRun } from "./run-ffmpeg.ts";

/** A run of ffmpeg over a recording's audio track. */
export interface DecodePlan {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  readonly trackIndex: number;
  /** The longest recording that is taken. */
  readonly maxSeconds: number;
  readonly outputs: readonly DecodeOutput[];
  readonly signal: AbortSignal | undefined;
}

export interface DecodeOutput {
  /** Null: nothing is kept; standard output tells, in lines of ffmpeg's framecrc, what came out. */
  readonly path: string | null;
  readonly filters: readonly string[];
}

/** How a plan is run, but for who reads what ffmpeg says of its progress. */
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
    // One second more than allowed tells "too long" from "just as long", and bounds what a lying header can cost.
    ...outputArgumentsOf(trackIndex, filters, 1, maxSeconds + 1),
    ...["-c:a", "pcm_s16le"],
    ...(path === null ? ["-f", "framecrc", "pipe:1"] : ["-f", "s16le", "-y", `file:${path}`]),
  ]);
  const isKept = outputs.some(({ path }) => path !== null);
  return [
    ...["-loglevel", "error", "-nostats"],
    // So often is looked how much of the disk has been taken.
    ...(isKept ? ["-progress", "pipe:1", "-stats_period", "0.2"] : []),
    ...openArguments(inputPath),
    ...outputArguments,
  ];
}

/** Opens a recording so that its filters see the time stamps of its container. */
export function openArguments(inputPath: string): string[] {
  return ["-filter_threads", "1", "-copyts", ...inputArguments(inputPath)];
}

/** One output of a run: the track through these filters, at the sample rate of all PCM, and nothing of the file's texts. */
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

/** One of two channels; a stretch in which a file has but one has it on both. */
export function channelFilter(channel: 0 | 1): string {
  return `aformat=channel_layouts=stereo,pan=mono|c0=c${channel}`;
}

/** ffmpeg mixes layouts that it knows; channels of no known place are mixed alike, of ambisonics the first hears all round. */
export function mixFilter({ channels, channelLayout }: ProbedRecording): string[] {
  if (channelLayout.startsWith("ambisonic")) return ["pan=mono|c0=c0"];
  if (channels === null || !/^\d+ channels/.test(channelLayout)) return [];
  const sum = Array.from({ length: channels }, (_, channel) => `c${channel}`).join("+");
  return [`pan=mono|c0<${sum}`];
}

// Decoding runs at 200 to 1500 times real time on one core (test corpus: mp3, aac, opus, flac). A tenth of the longest length, ten
// times real time, is left to a machine whose cores all transcribe.
function decodeTimeoutSeconds(maxSeconds: number): number {
  return 60 + maxSeconds / 10;
}

/** Reads ffmpeg's `key=value` lines; told of each time at which the output has got, in seconds. */
export function progressReader(onTime: (seconds: number) => void): (text: string) => void {
  return lineReader((line) => {
    const time = /^out_time_us=(\d+)$/.exec(line);
    if (time !== null) onTime(Number(time[1]) / 1e6);
  });
}

/** Told of each line that is whole; the text may come in any pieces. */
export function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}
