import { BLOCK_SAMPLES, BLOCKS_PER_SECOND, LEVELS_PER_DECIBEL, levelAt } from "./channels/levels.ts";
import { Histogram } from "./channels/statistics.ts";
import { inputArguments } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import { type InputFile, runFfmpeg } from "./run-ffmpeg.ts";

/** A recording whose sound is measured before it is decoded. */
export interface MeasuredFile extends InputFile {
  /** Length of the longest accepted recording. */
  readonly maxSeconds: number;
  /** If true, ffmpeg runs at the lowest priority. */
  readonly isBackground?: boolean;
}

/** A measurement of one track. */
interface Measurement {
  readonly trackIndex: number;
  /** Number of channels that the filters give. */
  readonly channels: number;
  readonly filters: readonly string[];
  /** Receives the interleaved samples of each block; returns whether enough is known. */
  readonly onBlock: (samples: Int16Array) => boolean;
}

/**
 * Decodes a track and passes its blocks to a listener until enough is known. Nothing is stored. A track that takes too long,
 * or that is damaged, counts for what was measured.
 * @throws the signal's reason after an abort
 */
export async function measureSound(file: MeasuredFile, measurement: Measurement): Promise<void> {
  const { ffmpegPath, inputPath, maxSeconds, signal, isBackground = false } = file;
  const { trackIndex, channels, filters, onBlock } = measurement;
  const enough = new AbortController();
  const block = new Int16Array(BLOCK_SAMPLES * channels);
  const blockBytes = new Uint8Array(block.buffer);
  let filled = 0;
  const onOutput = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length && !enough.signal.aborted; ) {
      const count = Math.min(bytes.length - at, blockBytes.length - filled);
      blockBytes.set(bytes.subarray(at, at + count), filled);
      at += count;
      filled += count;
      if (filled < blockBytes.length) continue;
      filled = 0;
      if (onBlock(block)) enough.abort();
    }
  };
  const timeoutSeconds = 60 + maxSeconds / 10;
  await runFfmpeg({
    ...{ ffmpegPath, inputPath, timeoutSeconds, cpuSeconds: timeoutSeconds, isBackground, onOutput },
    signal: signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]),
    arguments: [
      ...["-loglevel", "error", "-nostats", "-filter_threads", "1", ...inputArguments(inputPath)],
      ...["-map", `0:a:${trackIndex}`, "-map_metadata", "-1", "-map_chapters", "-1"],
      ...(filters.length === 0 ? [] : ["-af", filters.join(",")]),
      ...["-ar", String(PCM_SAMPLE_RATE_HZ), "-t", String(Math.ceil(maxSeconds))],
      ...["-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
    ],
    ignoresFlood: true,
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    const isOver = enough.signal.aborted || (error instanceof MediaError && error.fault === "ffmpeg_timed_out");
    if (!isOver) throw error;
  });
}

/** Returns the sum of the squares of some samples of a block. @param step 1 for all of them, else the number of channels */
export function energyOf(samples: Int16Array, first = 0, step = 1): number {
  let energy = 0;
  for (let at = first; at < samples.length; at += step) energy += (samples[at] as number) ** 2;
  return energy;
}

/**
 * There is sound if SOUND_SECONDS are louder than QUIETEST_DECIBELS, and than a moment before by RISE_DECIBELS: than the
 * quietest of the RECENT_BLOCKS before, a quarter of a second. Speech, usually at -20 to -45 dB, rises by 20 dB and more
 * with each word. Digital silence, the noise of an open microphone, hum and test tones do not, or only once.
 */
const SOUND_SECONDS = 0.5;
const QUIETEST_DECIBELS = -60;
const RISE_DECIBELS = 8;
const RECENT_BLOCKS = BLOCKS_PER_SECOND / 4;
const RISE_LEVELS = RISE_DECIBELS * LEVELS_PER_DECIBEL;
/** Part of the blocks that are as quiet as the noise. */
const NOISE_PART = 0.05;

/** The levels of a track's or channel's blocks, see levels.ts. */
export class SoundLevels {
  readonly #levels = new Histogram(256);
  readonly #recent: number[] = [];
  #risenBlocks = 0;
  #loudest = 0;

  get seconds(): number {
    return this.#levels.total / BLOCKS_PER_SECOND;
  }

  get loudest(): number {
    return this.#loudest;
  }

  get hasSound(): boolean {
    return this.#risenBlocks >= SOUND_SECONDS * BLOCKS_PER_SECOND;
  }

  /** Whether there may be sound, be it a single word in an hour. */
  get mayHaveSound(): boolean {
    return this.#loudest >= Math.max(levelAt(QUIETEST_DECIBELS), this.#levels.percentile(NOISE_PART) + RISE_LEVELS);
  }

  add(level: number): void {
    const least = Math.max(levelAt(QUIETEST_DECIBELS), Math.min(...this.#recent) + RISE_LEVELS);
    // A sound that is loud from the first moment on has not risen.
    if (this.#recent.length === RECENT_BLOCKS && level >= least) this.#risenBlocks++;
    this.#recent.push(level);
    if (this.#recent.length > RECENT_BLOCKS) this.#recent.shift();
    this.#levels.add(level);
    this.#loudest = Math.max(this.#loudest, level);
  }
}
