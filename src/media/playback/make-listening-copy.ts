import { statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { checkEnd } from "../decode-end.ts";
import { channelFilter, mixFilter, openArguments, outputArgumentsOf } from "../decode-plan.ts";
import { MEMORY_LIMIT_BYTES } from "../ffmpeg-input.ts";
import { MediaError } from "../media-error.ts";
import { PCM_SAMPLE_RATE_HZ } from "../pcm-format.ts";
import { type ProbedRecording, probeRecording } from "../probe.ts";
import { hasPair } from "../room-to-decode.ts";
import { runFfmpeg } from "../run-ffmpeg.ts";
import { findTrackStart, type TrackStart, timeLineFilters } from "../time-line.ts";
import { isWholeWebm } from "./is-whole-webm.ts";
import { PeakMeter } from "./peak-meter.ts";

interface ListeningRequest {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  /** Where the sound goes, WebM. Its folder must exist; a file of this name is replaced. */
  readonly audioPath: string;
  /** Where its waveform goes. */
  readonly waveformPath: string;
  /** What its decoded length turned out to be. */
  readonly durationSeconds: number;
  /** The longest recording that was taken. */
  readonly maxSeconds: number;
  /** Called with the seconds of sound that are done. */
  readonly onProgress?: (seconds: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Speech of 16 kHz in one channel needs no more: on an hour of the corpus' dialogues it came to 23 kbit/s. The general mode of
 * libopus takes a third of the time that its mode for speech does, and frames of 60 ms half of what those of 20 ms do: an hour
 * of MP3 takes 10 s on one core, of which reading the MP3 takes 3.5.
 */
const OPUS = [
  ...["-c:a", "libopus", "-b:a", "24k", "-compression_level", "5", "-application", "audio"],
  ...["-frame_duration", "60"],
];
/**
 * A cue for every ten seconds, all at the file's beginning: a browser has them with its first request, of which an hour adds 6 KB,
 * and reads 30 KB of sound that it does not play for a jump.
 */
const WEBM = ["-cluster_time_limit", "10000", "-cues_to_front", "1", "-f", "webm"];
/** 24 kbit/s, which the encoder keeps to on average, and a tenth for frames that are hard and for the container. */
const BYTES_PER_SECOND = 3300;
/** The head, the cues, the peaks. */
const LEAST_BYTES = 100_000;
const MOST_BYTES_PER_SECOND = 4 * BYTES_PER_SECOND;
/** One channel is the other upside down: mixed, they would cancel; see compareChannels. */
const INVERTED_CORRELATION = -0.5;
/** Less than the decode gave by more than this is not the whole of it. */
const TOLERANCE_SECONDS = 1;

/** Bytes on disk that a copy of so many seconds takes. */
export function roomForListening(durationSeconds: number): number {
  return Math.ceil(LEAST_BYTES + BYTES_PER_SECOND * durationSeconds);
}

/**
 * Makes what a browser plays of a recording: Opus in WebM, mono, that is jumped in by range requests at once, on the very time
 * line of its transcript, for it is made of what decodeRecording makes; see time-line.ts. Its waveform is made in the same
 * pass; see readWaveform.
 *
 * It waits for all other work on the machine, and is synced to disk. Throws MediaError as decodeRecording does, and the
 * signal's reason after an abort; what it wrote is the caller's to remove then.
 */
export async function makeListeningCopy(request: ListeningRequest): Promise<void> {
  const { ffmpegPath, inputPath, audioPath, waveformPath, signal } = request;
  const probed = await probeRecording(ffmpegPath, inputPath, signal);
  if (!probed.ok) throw new MediaError("not_a_recording", probed.reason);
  const start = await findTrackStart(ffmpegPath, inputPath, probed.trackIndex, signal);
  let meter = await encode(request, probed, start, mixFilter(probed));
  if (hasPair(probed) && meter.correlation < INVERTED_CORRELATION) {
    meter = await encode(request, probed, start, [channelFilter(meter.louderChannel)]);
  }
  await Bun.write(waveformPath, meter.peaks());
  for (const path of [audioPath, waveformPath]) await sync(path);
}

async function encode(
  { ffmpegPath, inputPath, audioPath, durationSeconds, maxSeconds, onProgress, signal }: ListeningRequest,
  probed: ProbedRecording,
  start: TrackStart | null,
  heard: readonly string[],
): Promise<PeakMeter> {
  const channels = hasPair(probed) ? 2 : 1;
  const meter = new PeakMeter(channels);
  const timeLine = (layout: "mono" | "stereo") => timeLineFilters(start, PCM_SAMPLE_RATE_HZ, maxSeconds, layout);
  const output = (filters: readonly string[], of: 1 | 2) =>
    outputArgumentsOf(probed.trackIndex, filters, of, durationSeconds);
  // Both channels are looked at, each for itself: one that the other takes away is seen, and so is that.
  const measured =
    channels === 2 ? ["aformat=channel_layouts=stereo", ...timeLine("stereo")] : [...heard, ...timeLine("mono")];
  await rm(audioPath, { force: true });
  const end = await runFfmpeg({
    ...{ ffmpegPath, inputPath, outputPaths: [audioPath] },
    arguments: [
      ...["-loglevel", "error", "-nostats", ...openArguments(inputPath)],
      ...[...output([...heard, ...timeLine("mono")], 1), ...OPUS, ...WEBM, "-y", `file:${audioPath}`],
      ...[...output(measured, channels), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
    ],
    limits: {
      memoryBytes: MEMORY_LIMIT_BYTES,
      cpuSeconds: 60 + durationSeconds / 10,
      outputBytes: LEAST_BYTES + MOST_BYTES_PER_SECOND * durationSeconds,
    },
    // As slow as the recording itself, where all processors have other work.
    timeoutSeconds: 600 + durationSeconds,
    signal,
    onBytes: (bytes) => {
      meter.push(bytes);
      onProgress?.(meter.sampleCount / PCM_SAMPLE_RATE_HZ);
    },
    // The decode was stopped for it, and what came before was taken: so it is here, where the length is known.
    mayFlood: true,
    isAside: true,
  });
  await checkEnd(end, meter.sampleCount, audioPath);
  if (/^Unknown encoder/m.test(end.messages)) {
    throw new MediaError("ffmpeg_unusable", "ffmpeg was built without libopus, by which sound is made for browsers");
  }
  if (meter.sampleCount === 0) throw new MediaError("not_a_recording", "there is no sound in it");
  const isShort = durationSeconds - meter.sampleCount / PCM_SAMPLE_RATE_HZ > TOLERANCE_SECONDS;
  if (isShort || !isThere(audioPath) || !(await isWholeWebm(audioPath))) {
    throw new MediaError(
      "ffmpeg_crashed",
      `ffmpeg stopped after ${meter.sampleCount} samples, exit code ${end.exitCode}`,
    );
  }
  return meter;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
}
