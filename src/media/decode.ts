import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { MachineError, type RoomClaim, syncDirectory } from "../storage/index.ts";
import { chooseChannels } from "./channels/choose-channels.ts";
import { EXIT_OUT_OF_MEMORY, inputArguments, MEMORY_LIMIT_BYTES } from "./ffmpeg-input.ts";
import { MediaError } from "./media-error.ts";
import { type ProbedRecording, probeRecording } from "./probe.ts";
import { hasPair, roomToDecode } from "./room-to-decode.ts";
import { type FfmpegEnd, runFfmpeg } from "./run-ffmpeg.ts";
import { findTrackStart, timeLineFilters } from "./time-line.ts";

/** Samples a second of all PCM in the product: what Whisper and the diarization models take. */
export const PCM_SAMPLE_RATE_HZ = 16_000;
/** Signed 16-bit little-endian, mono. */
export const PCM_BYTES_PER_SAMPLE = 2;

export interface DecodeRequest {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  /** Where the PCM goes: raw, mono, 16 kHz, s16le. Its folder must exist; a file of this name is replaced. */
  readonly outputPath: string;
  /**
   * Where the second party of a call goes that has a channel for each; the first goes to `outputPath`. Without it
   * channels are always mixed.
   */
  readonly secondOutputPath?: string;
  /** The longest recording that is taken. */
  readonly maxSeconds: number;
  /** Called with the share done, 0 to 1, never falling; not called at all where the container gives no duration. */
  readonly onProgress?: (fraction: number) => void;
  /** Asked for room on the disk before anything is written, in bytes; what it gives is disposed of at the end. */
  readonly claimRoom?: (bytes: number) => RoomClaim;
  readonly signal?: AbortSignal;
}

export interface DecodedRecording {
  /** The files that were written, all of the same length: `outputPath`, and `secondOutputPath` for a call's second party. */
  readonly paths: readonly string[];
  /** The true length, whatever the header says; 0 where the track decodes to nothing. */
  readonly sampleCount: number;
  /** Channels of the decoded track before mixing. Null where unknown. */
  readonly channels: number | null;
  /** How many audio tracks the file has; one is decoded, see ProbedRecording.trackIndex. */
  readonly audioTracks: number;
  /** True where ffmpeg stopped at damage and the PCM holds what came before. */
  readonly damaged: boolean;
}

/**
 * Decodes a recording's audio track to a PCM file, without holding it in memory.
 *
 * A damaged file gives what can be decoded. Sample 0 is the moment at which a player that opens the file begins, and gaps
 * between the container's time stamps are silence, so that times are those that a player shows; see time-line.ts.
 * Two channels are compared over the whole recording, see chooseChannels; until that is done, they take three times the
 * disk space of the PCM.
 * The output appears whole, synced to disk and under its name, or not at all. Throws MediaError (`not_a_recording`, `recording_too_long`,
 * `disk_full`, `input_unreadable`, or ffmpeg's own faults), and the signal's reason after an abort.
 */
export async function decodeRecording(request: DecodeRequest): Promise<DecodedRecording> {
  const { ffmpegPath, inputPath, outputPath, signal } = request;
  const probed = await probeRecording(ffmpegPath, inputPath, signal);
  if (!probed.ok) throw new MediaError("not_a_recording", probed.reason);

  const start = await findTrackStart(ffmpegPath, inputPath, probed.trackIndex, signal);
  const timeLine = timeLineFilters(start, PCM_SAMPLE_RATE_HZ, request.maxSeconds);
  const partial = {
    mixed: `${outputPath}.partial`,
    left: `${outputPath}.left.partial`,
    right: `${outputPath}.right.partial`,
  };
  const isPair = request.secondOutputPath !== undefined && hasPair(probed);
  const outputs = [{ path: partial.mixed, filters: [...mixFilter(probed), ...timeLine] }];
  if (isPair) {
    outputs.push({ path: partial.left, filters: [channelFilter(0), ...timeLine] });
    outputs.push({ path: partial.right, filters: [channelFilter(1), ...timeLine] });
  }
  const removePartial = () => Promise.all(Object.values(partial).map((path) => rm(path, { force: true })));
  // A decode that outlived a killed server may still hold the old ones open: writing to new files keeps the two apart.
  await removePartial();
  const roomBytes = roomToDecode(probed, await sizeOf(inputPath), request.maxSeconds);
  using room = request.claimRoom?.(roomBytes);
  let doneBytes = 0;
  const onProgress = (fraction: number) => {
    const now = Math.floor(roomBytes * fraction);
    room?.written(now - doneBytes);
    doneBytes = now;
    request.onProgress?.(fraction);
  };
  try {
    const end = await runFfmpeg({
      ffmpegPath,
      arguments: decodeArguments(inputPath, probed.trackIndex, outputs, request.maxSeconds),
      limits: decodeLimits(request.maxSeconds),
      timeoutSeconds: decodeTimeoutSeconds(request.maxSeconds),
      signal,
      onStdout: progressReader(probed.durationSeconds, onProgress),
    });
    const sizes = await Promise.all(outputs.map(({ path }) => sizeOf(path)));
    const sampleCount = Math.floor((sizes[0] ?? 0) / PCM_BYTES_PER_SAMPLE);
    checkEnd(end, sampleCount);
    if (sampleCount > request.maxSeconds * PCM_SAMPLE_RATE_HZ) {
      throw new MediaError("recording_too_long", `the recording is longer than ${request.maxSeconds} s`);
    }
    const isWhole = sampleCount > 0 && sizes.every((size) => size === sizes[0]);
    const [first, second] = isPair && isWhole ? await chooseChannels(partial, signal) : [partial.mixed];
    const paths = [outputPath];
    if (second !== undefined && request.secondOutputPath !== undefined) {
      await publish(second, request.secondOutputPath);
      paths.push(request.secondOutputPath);
    }
    await publish(first, outputPath);
    return {
      paths,
      sampleCount,
      channels: probed.channels,
      audioTracks: probed.audioTracks,
      damaged: end.exitCode !== 0,
    };
  } finally {
    await removePartial();
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function decodeArguments(
  inputPath: string,
  trackIndex: number,
  outputs: readonly { path: string; filters: readonly string[] }[],
  maxSeconds: number,
): string[] {
  const outputArguments = outputs.flatMap(({ path, filters }) => [
    ...["-map", `0:a:${trackIndex}`, "-map_metadata", "-1", "-map_chapters", "-1"],
    ...["-af", filters.join(",")],
    ...["-ac", "1", "-ar", String(PCM_SAMPLE_RATE_HZ), "-c:a", "pcm_s16le"],
    // One second more than allowed tells "too long" from "just as long", and bounds what a lying header can cost.
    ...["-t", String(maxSeconds + 1), "-f", "s16le", "-y", `file:${path}`],
  ]);
  return [
    ...["-loglevel", "error", "-nostats", "-progress", "pipe:1", "-stats_period", "0.5"],
    ...["-filter_threads", "1", "-copyts"],
    ...inputArguments(inputPath),
    ...outputArguments,
  ];
}

/** One of two channels; a stretch in which a file has but one has it on both. */
function channelFilter(channel: 0 | 1): string {
  return `aformat=channel_layouts=stereo,pan=mono|c0=c${channel}`;
}

/** ffmpeg mixes layouts that it knows; channels of no known place are mixed alike, of ambisonics the first hears all round. */
function mixFilter({ channels, channelLayout }: ProbedRecording): string[] {
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

function decodeLimits(maxSeconds: number) {
  return {
    memoryBytes: MEMORY_LIMIT_BYTES,
    cpuSeconds: decodeTimeoutSeconds(maxSeconds),
    outputBytes: (maxSeconds + 2) * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE,
  };
}

/** Reads ffmpeg's `key=value` lines, which may come in any pieces. */
function progressReader(durationSeconds: number | null, onProgress: (fraction: number) => void) {
  let line = "";
  let reported = 0;
  return (text: string) => {
    const lines = (line + text).split("\n");
    line = lines.pop() ?? "";
    if (durationSeconds === null || durationSeconds <= 0) return;
    for (const complete of lines) {
      const time = /^out_time_us=(\d+)$/.exec(complete);
      if (time === null) continue;
      const fraction = Math.min(1, Number(time[1]) / 1e6 / durationSeconds);
      if (fraction > reported) {
        reported = fraction;
        onProgress(fraction);
      }
    }
  };
}

/** How ffmpeg tells that the machine won't let it write: the system's code, its number and its words. */
const CANNOT_WRITE = [
  { code: "ENOSPC", errno: 28, words: "No space left on device" },
  { code: "EDQUOT", errno: 122, words: "Disk quota exceeded" },
  { code: "EROFS", errno: 30, words: "Read-only file system" },
  { code: "EMFILE", errno: 24, words: "Too many open files" },
  { code: "ENFILE", errno: 23, words: "Too many open files in system" },
] as const;

/** Tells the faults of the machine from a damaged recording, which is no fault. */
function checkEnd(end: FfmpegEnd, sampleCount: number): void {
  const trouble = CANNOT_WRITE.find(
    ({ errno, words }) => end.exitCode === 256 - errno || end.messages.includes(`: ${words}\n`),
  );
  if (trouble !== undefined) {
    const cause = new MachineError(trouble.code, trouble.words);
    throw new MediaError("disk_full", `the decoded recording can't be written: ${trouble.words}`, { cause });
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
}

/** Syncs the file, gives it its name, and syncs the name, so that a checkpoint may rely on it after a power cut. */
async function publish(partialPath: string, outputPath: string): Promise<void> {
  // An input that ffmpeg could not open leaves no output: that is a recording of no samples.
  const file = await open(partialPath, "a");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partialPath, outputPath);
  await syncDirectory(dirname(outputPath));
}
