import { BLOCK_SAMPLES, BLOCKS_PER_SECOND, LEVELS_PER_DECIBEL, levelAt, levelOf } from "./channels/levels.ts";
import { Histogram } from "./channels/statistics.ts";
import { inputArguments, MEMORY_LIMIT_BYTES, mixFilters } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import type { AudioTrack, ProbedRecording } from "./probe.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/**
 * Most tracks of a file that are compared: twice the 16 of broadcasters, who store each channel as a track. All of them
 * together are decoded for at most the length of the longest accepted recording.
 */
const MOST_TRACKS = 32;
/**
 * A track has sound if SOUND_SECONDS of it are louder than QUIETEST_DECIBELS, and than a moment before by RISE_DECIBELS:
 * than the quietest of the RECENT_BLOCKS before, a quarter of a second. Speech, usually at -20 to -45 dB, rises by 20 dB
 * and more with each word. Digital silence, the noise of an open microphone, hum and test tones do not, or only once.
 */
const SOUND_SECONDS = 0.5;
const QUIETEST_DECIBELS = -60;
const RISE_DECIBELS = 8;
const RECENT_BLOCKS = BLOCKS_PER_SECOND / 4;

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
        if (meter.hasSound) found.abort();
      },
      ignoresFlood: true,
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      // A track that takes too long counts for what was measured.
      const isOver = found.signal.aborted || (error instanceof MediaError && error.fault === "ffmpeg_timed_out");
      if (!isOver) throw error;
    });
    if (meter.hasSound) return track;
    leftSeconds -= meter.seconds;
    const { seconds, loudness } = meter;
    if (seconds > 0 && (best === null || loudness > best.loudness)) best = { track, loudness };
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
  readonly #recent: number[] = [];
  readonly #blockBytes: number;
  #rest = Buffer.alloc(0);
  #risenBlocks = 0;

  constructor(channels: number) {
    this.#blockBytes = BLOCK_SAMPLES * channels * PCM_BYTES_PER_SAMPLE;
  }

  get seconds(): number {
    return this.#levels.total / BLOCKS_PER_SECOND;
  }

  get loudness(): number {
    return this.#levels.percentile(0.95);
  }

  get hasSound(): boolean {
    return this.#risenBlocks >= SOUND_SECONDS * BLOCKS_PER_SECOND;
  }

  push(bytes: Uint8Array): void {
    const all = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    for (; at + this.#blockBytes <= all.length; at += this.#blockBytes) {
      let energy = 0;
      for (let sample = at; sample < at + this.#blockBytes; sample += PCM_BYTES_PER_SAMPLE) {
        energy += all.readInt16LE(sample) ** 2;
      }
      this.#add(levelOf(energy));
    }
    this.#rest = all.subarray(at);
  }

  #add(level: number): void {
    const least = Math.max(levelAt(QUIETEST_DECIBELS), Math.min(...this.#recent) + LEVELS_PER_DECIBEL * RISE_DECIBELS);
    // What is loud from the first moment on has not risen.
    if (this.#recent.length === RECENT_BLOCKS && level >= least) this.#risenBlocks++;
    this.#recent.push(level);
    if (this.#recent.length > RECENT_BLOCKS) this.#recent.shift();
    this.#levels.add(level);
  }
}
