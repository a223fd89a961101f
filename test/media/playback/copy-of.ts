import { FFMPEG, samplesOf } from "../../../harness/media.ts";
import { MediaError, PCM_SAMPLE_RATE_HZ } from "../../../src/media/index.ts";
import { encodeCopy } from "../../../src/media/playback/make-copy.ts";
import type { MediaFolder } from "../media-folder.ts";

/** The decoded samples of a recording and of its playback copy. */
export interface Heard {
  readonly decoded: Int16Array;
  readonly copied: Int16Array;
  readonly audioPath: string;
  readonly waveformPath: string;
}

/** A recording that cannot be decoded has neither a transcript nor a copy. */
export class UndecodableError extends Error {}

function undecodable(error: unknown): never {
  throw error instanceof MediaError ? new UndecodableError(error.message) : error;
}

/** Decodes a recording, makes its copy in `folder`, and decodes the copy like any player. */
export async function copyOf(inputPath: string, folder: MediaFolder, maxSeconds = 600): Promise<Heard> {
  const [audioPath, waveformPath] = [folder.at("audio.webm"), folder.at("waveform")];
  const { sampleCount, trackIndex, samples } = await folder.decode(inputPath, { maxSeconds }).catch(undecodable);
  if (sampleCount === 0) throw new UndecodableError("it has no samples");
  const durationSeconds = sampleCount / PCM_SAMPLE_RATE_HZ;
  await encodeCopy({ ffmpegPath: FFMPEG, inputPath, maxSeconds, audioPath, waveformPath, durationSeconds, trackIndex });
  return { decoded: samples, copied: await played(audioPath, folder), audioPath, waveformPath };
}

/** Returns the samples that a player plays of a file, from a time on. */
export async function played(path: string, folder: MediaFolder, fromSeconds = 0): Promise<Int16Array> {
  const from = fromSeconds === 0 ? [] : ["-ss", String(fromSeconds)];
  const format = ["-ac", "1", "-ar", String(PCM_SAMPLE_RATE_HZ), "-f", "s16le"];
  return samplesOf(folder.make("played.pcm", ...from, "-i", path, ...format));
}

const WINDOW_SAMPLES = PCM_SAMPLE_RATE_HZ;
/** Largest delay that is searched. */
const MOST_LAG_SAMPLES = PCM_SAMPLE_RATE_HZ / 4;
const LAG_STEP_SAMPLES = 8;
/** One of so many samples is compared. */
const SAMPLE_STEP = 4;

/**
 * Returns the delay of one recording in the other at a time, in seconds: the one at which a second from there on
 * correlates best.
 */
export function lagAt(sample: number, one: Int16Array, other: Int16Array): number {
  const window = one.subarray(sample, sample + WINDOW_SAMPLES);
  let best = { alike: Number.NEGATIVE_INFINITY, lag: 0 };
  for (let lag = -MOST_LAG_SAMPLES; lag <= MOST_LAG_SAMPLES; lag += LAG_STEP_SAMPLES) {
    const from = sample + lag;
    if (from < 0) continue;
    const alike = likeness(window, other.subarray(from, from + WINDOW_SAMPLES));
    if (alike > best.alike) best = { alike, lag };
  }
  return best.lag / PCM_SAMPLE_RATE_HZ;
}

/** Returns the start of the loudest second of each part of a recording. */
export function loudestSeconds(samples: Int16Array, parts: number): number[] {
  const partSamples = Math.floor(samples.length / parts);
  return Array.from({ length: parts }, (_, part) => {
    const starts = [];
    for (let at = part * partSamples; at + WINDOW_SAMPLES <= (part + 1) * partSamples; at += WINDOW_SAMPLES)
      starts.push(at);
    const powers = new Map(starts.map((at) => [at, powerOf(samples.subarray(at, at + WINDOW_SAMPLES))]));
    return starts.sort((a, b) => (powers.get(b) ?? 0) - (powers.get(a) ?? 0))[0] ?? part * partSamples;
  });
}

/** Returns how much a recording resembles another one, relative to the power of that one's samples. */
function likeness(samples: Int16Array, other: Int16Array): number {
  const length = Math.min(samples.length, other.length);
  let products = 0;
  for (let index = 0; index < length; index += SAMPLE_STEP)
    products += (samples[index] as number) * (other[index] as number);
  return products / Math.sqrt(powerOf(other.subarray(0, length)));
}

function powerOf(samples: Int16Array): number {
  let power = 1;
  for (let index = 0; index < samples.length; index += SAMPLE_STEP) power += (samples[index] as number) ** 2;
  return power;
}
