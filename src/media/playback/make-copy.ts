import { existsSync, statSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import type { DiskSpace } from "../../disk/index.ts";
import { syncDirectory } from "../../files/index.ts";
import type { Recordings } from "../../recordings/index.ts";
import type { DataDirectory } from "../../storage/index.ts";
import { chooseMix } from "../channels/choose-mix.ts";
import { INVERTED_CORRELATION } from "../channels/compare-channels.ts";
import { checkFfmpegEnd } from "../decode-plan.ts";
import { channelFilters, outputArgumentsOf, timedInputArguments } from "../ffmpeg-arguments.ts";
import { promisedMatroskaBytes } from "../matroska.ts";
import { MediaError } from "../media-error.ts";
import { PCM_SAMPLE_RATE_HZ } from "../pcm.ts";
import { type AudioTrack, probeRecording } from "../probe.ts";
import { type InputFile, runFfmpeg } from "../run-ffmpeg.ts";
import { findTrackStart, type TrackStart, timeLineFilters } from "../time-line.ts";
import { PeakMeter } from "./waveform.ts";

export interface CopyResources {
  readonly recordings: Pick<Recordings, "get">;
  readonly dataDirectory: DataDirectory;
  readonly diskSpace: DiskSpace;
  readonly ffmpegPath: string;
  /** Returns the current limit on the length of a recording. */
  readonly maxSeconds: () => number;
}

/** Returns whether a recording and its audio, from which the copy is made, still exist. */
export async function isStored({ recordings, dataDirectory }: CopyResources, id: string): Promise<boolean> {
  return recordings.get(id) !== null && (await dataDirectory.audio.has(id));
}

/** The recording of which a copy is made. */
export interface CopySource {
  readonly id: string;
  readonly durationSeconds: number;
  /** Number of the transcribed audio track from 1; null for the only or the preferred one. */
  readonly track: number | null;
}

/**
 * Makes a recording's playback copy, which appears complete, or not at all if the recording is removed meanwhile.
 * @param onShare receives the completed fraction, 0 to 1
 * @throws {MediaError} when the recording cannot be encoded
 * @throws {MachineError} when the disk lacks space in addition to the space that is reserved for incoming recordings
 * @throws the signal's reason after an abort
 */
export async function makeCopy(
  resources: CopyResources,
  { id, durationSeconds, track }: CopySource,
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { dataDirectory, diskSpace, ffmpegPath } = resources;
  const recordingFiles = dataDirectory.filesOf(id);
  const { directory: draft, ...files } = recordingFiles.playbackOf(track).draft;
  // A copy is optional, so it must not use the disk space that incoming recordings need.
  using reservation = diskSpace.reserve(estimateCopyBytes(durationSeconds), "intake");
  let writtenBytes = 0;
  const onProgress = (seconds: number) => {
    const now = statSync(files.audio, { throwIfNoEntry: false })?.size ?? 0;
    reservation.written(Math.max(0, now - writtenBytes));
    writtenBytes = Math.max(writtenBytes, now);
    onShare(Math.min(1, seconds / durationSeconds));
  };
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft, { mode: 0o700 });
    await using upload = await dataDirectory.audio.open(id);
    if (upload === null) throw new Error("the recording has no audio any more");
    await encodeCopy({
      ...{ ffmpegPath, durationSeconds, onProgress, signal },
      trackIndex: track === null ? undefined : track - 1,
      inputPath: upload.path,
      audioPath: files.audio,
      waveformPath: files.waveform,
      // A limit that was lowered after the recording was decoded must not change the times.
      maxSeconds: Math.max(resources.maxSeconds(), Math.ceil(durationSeconds)),
    });
    await syncDirectory(draft);
    const directory = recordingFiles.playback.directory;
    // The folder exists only if one of its files was removed.
    await rm(directory, { recursive: true, force: true });
    await rename(draft, directory);
    await syncDirectory(dataDirectory.playback);
  } finally {
    await rm(draft, { recursive: true, force: true });
    // A recording's audio is removed before its copy. A copy that is renamed into place after that is removed here.
    if (!(await isStored(resources, id))) await recordingFiles.removePlayback();
  }
}

interface CopyRequest extends InputFile {
  /** Path of the audio, WebM. Its folder must exist; an existing file is replaced. */
  readonly audioPath: string;
  readonly waveformPath: string;
  /** Number of the transcribed track among the audio tracks, from 0. Without it, the preferred track is used. */
  readonly trackIndex?: number | undefined;
  /** Decoded duration of the recording. */
  readonly durationSeconds: number;
  /** Limit on the length of recordings, at least the decoded duration. */
  readonly maxSeconds: number;
  /** Called with the number of encoded seconds. */
  readonly onProgress?: (seconds: number) => void;
}

/**
 * Encoder settings for 16 kHz mono speech; the corpus' dialogues take 23 kbit/s. The general mode of libopus takes a
 * third of the time of its speech mode. Frames of 60 ms take half the time of frames of 20 ms.
 */
const OPUS = "-c:a libopus -b:a 24k -compression_level 5 -application audio -frame_duration 60".split(" ");
/** One cue every ten seconds, all at the file's beginning, where a browser gets them with its first request. */
const WEBM = "-cluster_time_limit 10000 -cues_to_front 1 -f webm".split(" ");
/** Estimated size: 24 kbit/s, the encoder's average, plus a tenth for difficult frames and the container. */
const BYTES_PER_SECOND = 3300;
/** Bytes reserved for the header, the cues and the peaks. */
const LEAST_BYTES = 100_000;
const MOST_BYTES_PER_SECOND = 4 * BYTES_PER_SECOND;
/** A copy that is shorter than the decoded recording by more than this is incomplete. */
const TOLERANCE_SECONDS = 1;

/** Estimates the bytes on disk that a copy of this duration takes. */
export function estimateCopyBytes(durationSeconds: number): number {
  return Math.ceil(LEAST_BYTES + BYTES_PER_SECOND * durationSeconds);
}

/**
 * Encodes the playback copy of a recording and its waveform: Opus in WebM, mono, in which a browser can seek with range
 * requests. It uses the same filters as decodeRecording, so its times match those of the transcript. Runs at the
 * lowest priority and syncs its files to disk. After an error or an abort, the caller removes the written files.
 * @throws {MediaError} as decodeRecording does
 * @throws the signal's reason after an abort
 */
export async function encodeCopy(request: CopyRequest): Promise<void> {
  const { ffmpegPath, inputPath, audioPath, waveformPath, signal } = request;
  const probed = await probeRecording(ffmpegPath, inputPath, signal);
  if (!probed.ok) throw new MediaError("not_a_recording", probed.reason);
  const track = probed.tracks.find(({ index }) => index === request.trackIndex) ?? probed.tracks[0];
  const start = await findTrackStart({ ffmpegPath, inputPath, signal }, track.index);
  const mix = await chooseMix({ ...request, isBackground: true }, track);
  let meter = await encode(request, track, start, mix);
  if (isStereo(track) && meter.correlation < INVERTED_CORRELATION) {
    meter = await encode(request, track, start, channelFilters(track, meter.louderChannel));
  }
  await Bun.write(waveformPath, meter.peaks());
  for (const path of [audioPath, waveformPath]) {
    await using file = await open(path, "r+");
    await file.sync();
  }
}

/** Other pairs of positions cannot be measured together. */
function isStereo({ channelLayout }: AudioTrack): boolean {
  return channelLayout === "stereo";
}

async function encode(
  { ffmpegPath, inputPath, audioPath, durationSeconds, maxSeconds, onProgress, signal }: CopyRequest,
  track: AudioTrack,
  start: TrackStart | null,
  mono: readonly string[],
): Promise<PeakMeter> {
  const channels = isStereo(track) ? 2 : 1;
  const meter = new PeakMeter(channels);
  const timeLine = (layout: "mono" | "stereo") => timeLineFilters(start, PCM_SAMPLE_RATE_HZ, maxSeconds, layout);
  const output = (filters: readonly string[], of: 1 | 2) =>
    outputArgumentsOf(track.index, filters, of, durationSeconds);
  // Measures each channel separately, so that channels that cancel each other in the mix are detected.
  const measured =
    channels === 2 ? ["aformat=channel_layouts=stereo", ...timeLine("stereo")] : [...mono, ...timeLine("mono")];
  await rm(audioPath, { force: true });
  const end = await runFfmpeg({
    ...{ ffmpegPath, inputPath, outputPaths: [audioPath] },
    arguments: [
      ...["-loglevel", "error", "-nostats", ...timedInputArguments(inputPath)],
      ...[...output([...mono, ...timeLine("mono")], 1), ...OPUS, ...WEBM, "-y", `file:${audioPath}`],
      ...[...output(measured, channels), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
    ],
    cpuSeconds: 60 + durationSeconds / 10,
    outputBytes: LEAST_BYTES + MOST_BYTES_PER_SECOND * durationSeconds,
    // Permits real-time speed, for a machine whose cores are all busy with other work.
    timeoutSeconds: 600 + durationSeconds,
    signal,
    onOutput: (bytes) => {
      meter.push(bytes);
      onProgress?.(meter.sampleCount / PCM_SAMPLE_RATE_HZ);
    },
    // A decode that is stopped for too much output still yields a recording. The copy must cover the same audio, and
    // its length is known here.
    ignoresFlood: true,
    isBackground: true,
  });
  await checkFfmpegEnd(end, meter.sampleCount, audioPath);
  if (/^Unknown encoder/m.test(end.messages)) {
    throw new MediaError("ffmpeg_unusable", "ffmpeg was built without libopus, which encodes audio for browsers");
  }
  if (meter.sampleCount === 0) throw new MediaError("not_a_recording", "the recording has no decodable audio");
  const isShort = durationSeconds - meter.sampleCount / PCM_SAMPLE_RATE_HZ > TOLERANCE_SECONDS;
  if (isShort || !existsSync(audioPath) || !(await isWholeWebm(audioPath))) {
    const message = `ffmpeg stopped after ${meter.sampleCount} samples, exit code ${end.exitCode}`;
    throw new MediaError("ffmpeg_crashed", message);
  }
  return meter;
}

const HEAD_BYTES = 256;

/**
 * Returns whether a WebM file was written completely. The segment header contains the segment's length only after that;
 * before, it marks the length as unknown (RFC 8794, 6.2; RFC 9559, 5.1).
 */
export async function isWholeWebm(path: string): Promise<boolean> {
  const file = Bun.file(path);
  const head = Buffer.from(await file.slice(0, HEAD_BYTES).arrayBuffer());
  return head.length === HEAD_BYTES && promisedMatroskaBytes(head) === file.size;
}
