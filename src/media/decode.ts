import { statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { machineTrouble } from "../disk/index.ts";
import { syncDirectory } from "../files/index.ts";
import { chooseChannels } from "./channels/choose-channels.ts";
import { chooseMix } from "./channels/choose-mix.ts";
import { chooseTrack } from "./choose-track.ts";
import { checkFfmpegEnd, type DecodePlan, decodeRun } from "./decode-plan.ts";
import { type DecodeSpace, estimateDecodedBytes, measureSpace, reserveSpace } from "./disk-space.ts";
import { channelFilters, hasChannelPair } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import { probeRecording, secondsOfTrack } from "./probe.ts";
import { type InputFile, lineReader, runFfmpeg } from "./run-ffmpeg.ts";
import { findTrackStart, type TrackStart, timeLineFilters } from "./time-line.ts";

export interface DecodeRequest extends InputFile {
  /** Path of the PCM file: raw, mono, 16 kHz, s16le. Its folder must exist; an existing file is replaced. */
  readonly outputPath: string;
  /** Path of the second party's PCM of a call with a channel for each party. Without it, channels are mixed. */
  readonly secondOutputPath?: string;
  /** Length of the longest accepted recording. */
  readonly maxSeconds: number;
  /** Called with the completed fraction, 0 to 1, which never decreases. Not called if the duration is unknown. */
  readonly onProgress?: (fraction: number) => void;
  /** Called before decoding starts with the declared duration; an error that it throws ends the decode. */
  readonly onProbed?: ((declaredSeconds: number | null) => void) | undefined;
  readonly space?: DecodeSpace;
}

interface DecodedRecording {
  /** The written files, all of the same length: `outputPath`, and `secondOutputPath` for a call's second party. */
  readonly paths: readonly string[];
  /** The decoded length, independent of the header; 0 if the track decodes to nothing. */
  readonly sampleCount: number;
  /** Number of the decoded track among the audio tracks, from 0. */
  readonly trackIndex: number;
  /** Number of the file's audio tracks. */
  readonly trackCount: number;
  /** Whether ffmpeg stopped at damage or well before the declared end. The PCM holds the audio before that point. */
  readonly damaged: boolean;
  /** Duration according to the container, see secondsOfTrack; null if it gives none or ffmpeg only estimates it. */
  readonly declaredSeconds: number | null;
}

/**
 * Decodes the audio track of a recording that has sound, see chooseTrack, to a PCM file, without holding it in memory,
 * and as much of a damaged file as possible. Sample 0 is the moment at which a player starts to play the file. Gaps
 * between the container's time stamps become silence, so times match those that a player shows; see time-line.ts. Two
 * channels are compared over the whole recording; see chooseChannels. The output appears complete and synced to disk, or
 * not at all.
 * @throws {MediaError} `not_a_recording`, `recording_too_long`, `disk_full`, `input_unreadable`, or a fault of ffmpeg
 * @throws the signal's reason after an abort
 */
export async function decodeRecording(request: DecodeRequest): Promise<DecodedRecording> {
  const { ffmpegPath, inputPath, outputPath, maxSeconds, space, signal } = request;
  const probed = await probeRecording(ffmpegPath, inputPath, signal);
  if (!probed.ok) throw new MediaError("not_a_recording", probed.reason);
  const partial = {
    mixed: `${outputPath}.partial`,
    left: `${outputPath}.left.partial`,
    right: `${outputPath}.right.partial`,
  };
  const file = { ffmpegPath, inputPath, maxSeconds, signal };
  const track = await chooseTrack(file, probed);
  const durationSeconds = await secondsOfTrack(file, probed, track);
  const declaredSeconds = probed.durationIsEstimate ? null : durationSeconds;
  request.onProbed?.(declaredSeconds);
  const mix = await chooseMix(file, track);
  const start = await findTrackStart(file, track.index);
  const timeLine = timeLineFilters(start, PCM_SAMPLE_RATE_HZ, maxSeconds);
  const isPair = request.secondOutputPath !== undefined && hasChannelPair(track);
  const outputs = [{ path: partial.mixed, filters: [...mix, ...timeLine] }];
  if (isPair) {
    outputs.push({ path: partial.left, filters: [...channelFilters(track, 0), ...timeLine] });
    outputs.push({ path: partial.right, filters: [...channelFilters(track, 1), ...timeLine] });
  }
  const plan: FilePlan = { ...file, trackIndex: track.index, outputs };
  const removePartial = () => Promise.all(Object.values(partial).map((path) => rm(path, { force: true })));
  // An ffmpeg process that outlived a killed server may still hold the old files open. Writing to new files keeps the
  // two decodes separate.
  await removePartial();
  const estimatedBytes = estimateDecodedBytes({ ...probed, durationSeconds }, sizeNow(inputPath), maxSeconds);
  const reservedBytes = space === undefined ? 0 : await reserveSpace(plan, space, estimatedBytes);
  let writtenBytes = 0;
  const writtenSince = () => {
    const bytes = outputs.reduce((sum, { path }) => sum + sizeNow(path), 0);
    const more = Math.max(0, bytes - writtenBytes);
    writtenBytes += more;
    return more;
  };
  let reportedShare = 0;
  const onTime = (seconds: number) => {
    space?.written(writtenSince());
    if (!durationSeconds) return;
    const share = Math.min(1, seconds / durationSeconds);
    if (share > reportedShare) request.onProgress?.(share);
    reportedShare = Math.max(reportedShare, share);
  };
  try {
    const { sampleCount, sizes, exitCode } = await decodeWithRetries(plan, outputPath, removePartial, onTime);
    if (sampleCount > maxSeconds * PCM_SAMPLE_RATE_HZ) {
      throw new MediaError("recording_too_long", `the recording is longer than ${maxSeconds} s`);
    }
    const isWhole = sampleCount > 0 && sizes.every((size) => size === sizes[0]);
    const [first, second] = isPair && isWhole ? await chooseChannels(partial, signal) : [partial.mixed];
    const paths = [outputPath];
    if (second !== undefined && request.secondOutputPath !== undefined) {
      await publish(second, request.secondOutputPath);
      paths.push(request.secondOutputPath);
    }
    await publish(first, outputPath);
    const damaged = exitCode !== 0 || isCutShort(sampleCount / PCM_SAMPLE_RATE_HZ, declaredSeconds, start);
    const { trackCount } = probed;
    return { paths, sampleCount, trackIndex: track.index, trackCount, damaged, declaredSeconds };
  } catch (error) {
    writtenSince();
    await removePartial();
    const isTooSmall = machineTrouble(error) !== null && writtenBytes > reservedBytes;
    if (space !== undefined && isTooSmall) await measureSpace(plan, space, writtenBytes);
    throw error;
  } finally {
    await removePartial();
  }
}

/** A plan whose outputs are all stored in files. */
interface FilePlan extends DecodePlan {
  readonly outputs: readonly { readonly path: string; readonly filters: readonly string[] }[];
}

const MAX_ATTEMPTS = 3;

/**
 * Runs ffmpeg, and retries if ffmpeg blames the machine without reason. A temporary fault of the machine may not recur at
 * the retry. If the retry stops at the same sample, the recording is damaged.
 */
async function decodeWithRetries(
  plan: FilePlan,
  outputPath: string,
  removeOutputs: () => Promise<unknown>,
  onTime: (seconds: number) => void,
): Promise<{ sampleCount: number; sizes: readonly number[]; exitCode: number }> {
  let before: number | null = null;
  for (let attempt = 1; ; attempt++) {
    const onOutput = lineReader((line) => {
      const time = /^out_time_us=(\d+)$/.exec(line);
      if (time !== null) onTime(Number(time[1]) / 1e6);
    });
    const end = await runFfmpeg({ ...decodeRun(plan), onOutput });
    const sizes = plan.outputs.map(({ path }) => sizeNow(path));
    const sampleCount = Math.floor((sizes[0] ?? 0) / PCM_BYTES_PER_SAMPLE);
    const blamed = await checkFfmpegEnd(end, sampleCount, outputPath);
    if (blamed === null || sampleCount === before) return { sampleCount, sizes, exitCode: end.exitCode };
    if (attempt === MAX_ATTEMPTS) {
      throw new MediaError("ffmpeg_crashed", `ffmpeg reports "${blamed}" although files can be written`);
    }
    before = sampleCount;
    await removeOutputs();
  }
}

/**
 * Returns whether the decoded length is well below the declared one. A live stream is off by some per cent. Windows Media
 * counts the time before a track that begins late twice.
 */
function isCutShort(seconds: number, declaredSeconds: number | null, start: TrackStart | null): boolean {
  if (declaredSeconds === null) return false;
  const lateSeconds = start === null ? 0 : Math.max(0, start.trackSeconds - start.fileSeconds);
  return declaredSeconds - lateSeconds - seconds > Math.max(2, 0.1 * declaredSeconds);
}

function sizeNow(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Gives a file its final name, synced, so that a checkpoint can rely on it after a power cut. */
async function publish(partialPath: string, outputPath: string): Promise<void> {
  // ffmpeg writes no output for an input that it cannot open. The input then counts as a recording without samples.
  {
    await using file = await open(partialPath, "a");
    await file.sync();
  }
  await rename(partialPath, outputPath);
  await syncDirectory(dirname(outputPath));
}
