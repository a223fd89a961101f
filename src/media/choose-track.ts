import { BLOCK_SAMPLES, BLOCKS_PER_SECOND, levelAt, levelOf } from "./channels/levels.ts";
import { Histogram } from "./channels/statistics.ts";
import { inputArguments, MEMORY_LIMIT_BYTES, mixFilters } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import type { AudioTrack, ProbedRecording } from "./probe.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/**
 * Most tracks of a file that are compared: twice the 16 of broadcasters, who store each channel as a track. All of them
 * together are decoded for at most the length of the longest accepted recording.
 */
const MOST_TRACKS = 32;
/**
 * A track has sound if at least SOUND_SECONDS of it are louder than QUIETEST_DECIBELS and than its own noise by
 * ABOVE_NOISE_DECIBELS. An open microphone with nobody near, hum and test tones have no sound in this sense. Speech is
 * usually at -20 to -45 dB, and 20 dB or more above its pauses.
 */
const SOUND_SECONDS = 0.5;
const QUIETEST_DECIBELS = -60;
const ABOVE_NOISE_DECIBELS = 10;
const NOISE_PART = 0.1;
/** Blocks below this are digital silence, which says nothing of the noise. */
const SILENT_DECIBELS = -90;
/** A track is judged for the first time after this time, because it may begin with a fade or with digital silence. */
const LEAST_SECONDS = 5;

/**
 * Chooses the track to transcribe: the first one that has sound, in the order of the probe. If none has, the loudest of
 * those that can be decoded. A track is decoded only until its sound is found, usually for seconds, and the samples
 * are only measured. A file with one track is not decoded.
 * @throws the signal's reason after an abort
 */
export async function chooseTrack(
  { ffmpegPath, inputPath, maxSeconds, signal }: TrackSearch,
  { tracks }: ProbedRecording,
): Promise<AudioTrack> {
  let best: { readonly track: AudioTrack; readonly loudness: number } | null = null;
  let leftSeconds = maxSeconds;
  if (tracks.length === 1) return tracks[0];
  for (const track of tracks.slice(0, MOST_TRACKS)) {
    if (leftSeconds <= 0) break;
    const meter = new SoundMeter(track.channels ?? 1);
    const found = new AbortController();
    const stop = signal === undefined ? found.signal : AbortSignal.any([signal, found.signal]);
    await runFfmpeg({
      ...{ ffmpegPath, inputPath, outputPaths: [], signal: stop },
      arguments: [
        ...["-loglevel", "error", "-nostats", ...inputArguments(inputPath)],
        ...["-map", `0:a:${track.index}`, "-map_metadata", "-1", "-map_chapters", "-1"],
        // Channels that cancel each other in a mix are sound, so all are measured.
        ...(track.channels === null ? ["-af", mixFilters(track).join(",") || "anull", "-ac", "1"] : []),
        ...["-ar", String(PCM_SAMPLE_RATE_HZ), "-t", String(Math.ceil(leftSeconds))],
        ...["-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
      ],
      limits: { memoryBytes: MEMORY_LIMIT_BYTES, cpuSeconds: 60 + leftSeconds / 10, outputBytes: 0 },
      timeoutSeconds: 60 + leftSeconds / 10,
      onOutput: (bytes) => {
        meter.push(bytes);
        if (meter.hasSound()) found.abort();
      },
      ignoresFlood: true,
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      // A track that takes too long counts for what was measured.
      const isOver = found.signal.aborted || (error instanceof MediaError && error.fault === "ffmpeg_timed_out");
      if (!isOver) throw error;
    });
    if (meter.hasSound(0)) return track;
    leftSeconds -= meter.seconds;
    const loudness = meter.loudness();
    if (meter.seconds > 0 && (best === null || loudness > best.loudness)) best = { track, loudness };
  }
  return best?.track ?? tracks[0];
}

interface TrackSearch {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  /** Length of the longest accepted recording. */
  readonly maxSeconds: number;
  readonly signal: AbortSignal | undefined;
}

/** Measures how loud the blocks of a track are, over all its channels together. */
class SoundMeter {
  readonly #levels = new Histogram(256);
  readonly #blockSamples: number;
  #rest = Buffer.alloc(0);
  #silentBlocks = 0;

  constructor(channels: number) {
    this.#blockSamples = BLOCK_SAMPLES * channels;
  }

  get seconds(): number {
    return (this.#levels.total + this.#silentBlocks) / BLOCKS_PER_SECOND;
  }

  push(bytes: Uint8Array): void {
    const all = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const blockBytes = 2 * this.#blockSamples;
    let at = 0;
    for (; at + blockBytes <= all.length; at += blockBytes) {
      let energy = 0;
      for (let sample = at; sample < at + blockBytes; sample += 2) energy += all.readInt16LE(sample) ** 2;
      const level = levelOf(energy);
      if (level < levelAt(SILENT_DECIBELS)) this.#silentBlocks++;
      else this.#levels.add(level);
    }
    this.#rest = all.subarray(at);
  }

  loudness(): number {
    return this.#levels.percentile(0.95);
  }

  /** @param leastSeconds time before which no track has sound */
  hasSound(leastSeconds = LEAST_SECONDS): boolean {
    if (this.seconds < leastSeconds) return false;
    const noise = this.#levels.percentile(NOISE_PART) + levelAt(ABOVE_NOISE_DECIBELS) - levelAt(0);
    const least = Math.max(levelAt(QUIETEST_DECIBELS), noise);
    const blocks = this.#levels.counts.subarray(least).reduce((sum, count) => sum + count, 0);
    return blocks >= SOUND_SECONDS * BLOCKS_PER_SECOND;
  }
}
