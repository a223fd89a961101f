import { blockCount, FRAME_SAMPLES, frameSample, frameSeconds } from "../../blocks/index.ts";
import { type PcmFile, SAMPLE_RATE, type Span, type WorkArea } from "../../timeline/index.ts";
import { frameDecibels } from "../silences.ts";
import { BlockActivity } from "./activity.ts";
import { FrameAverage } from "./frame-average.ts";
import { readPcm } from "./read-pcm.ts";

/**
 * Speech begins when its probability exceeds ONSET and lasts while it exceeds OFFSET. On 74 clips that were made quiet,
 * clipped, noisy or telephone-like, 0.5 and 0.25 lose 1.6 % of the speech, these values half as much. They take 5 % of
 * an hour of noise, music and tones for speech instead of 4 %, which adds no hallucinated words.
 */
const ONSET = 0.3;
const OFFSET = 0.15;
/** Longer speech is cut at its weakest frame, so that every region with its padding fits into a chunk. */
const MAX_REGION_SECONDS = 29;

/**
 * Returns the speech regions of a recording, in order and disjoint, none longer than 29 s. Longer speech is cut at its
 * weakest frame. Reads one block at a time, and only the samples of speech that must be cut.
 */
export async function speechRegions(area: WorkArea): Promise<Span[]> {
  const finder = new RegionFinder(area.pcm);
  const average = await addBlocks(finder, area, blockCount(area.pcm.sampleCount));
  average.end();
  return await finder.end();
}

/** The first speech regions of a recording, and the moment at which or after which every further one starts. */
interface KnownSpeech {
  readonly regions: readonly Span[];
  readonly knownSeconds: number;
}

/**
 * Returns the speech regions that the first `blocks` blocks determine: the first ones of `speechRegions`, because both
 * pass through the same states from block to block.
 */
export async function knownSpeech(area: WorkArea, blocks: number): Promise<KnownSpeech> {
  const finder = new RegionFinder(area.pcm);
  await addBlocks(finder, area, blocks);
  return finder.known();
}

/** Adds the first `blocks` blocks. The frames that later windows overlap are missing until the returned average ends. */
async function addBlocks(finder: RegionFinder, area: WorkArea, blocks: number): Promise<FrameAverage> {
  const average = new FrameAverage(1, (frame, values) => finder.add(frame, values[0] ?? 0));
  for (let block = 0; block < blocks; block++) {
    const activity = await BlockActivity.read(area, block);
    for (let window = 0; window < activity.windows; window++) {
      average.add((frame) => activity.speech(window, frame));
    }
    await finder.settle();
  }
  return average;
}

/** Converter from speech probabilities, frame by frame, to regions. */
class RegionFinder {
  private readonly regions: Span[] = [];
  /** Finished runs that wait to be cut. */
  private ended: Run[] = [];
  /** Frames since the probability last rose above OFFSET. They become speech if one of them exceeds ONSET. */
  private open: Run = { firstFrame: 0, levels: [] };
  private nextFrame = 0;

  private readonly totalSeconds: number;

  constructor(private readonly pcm: PcmFile) {
    this.totalSeconds = pcm.sampleCount / SAMPLE_RATE;
  }

  add(frame: number, level: number): void {
    this.nextFrame = frame + 1;
    if (frameSeconds(frame) >= this.totalSeconds || level <= OFFSET) {
      this.close();
      return;
    }
    if (this.open.levels.length === 0) this.open.firstFrame = frame;
    this.open.levels.push(level);
  }

  /** Converts the finished runs to regions, and the part of the open run that is already too long. */
  async settle(): Promise<void> {
    for (const run of this.ended) this.push(await this.cutLong(run));
    this.ended = [];
    this.open = await this.cutLong(this.open);
  }

  /** Returns the regions so far, after `settle`. */
  known(): KnownSpeech {
    const frame = this.open.levels.length > 0 ? this.open.firstFrame : this.nextFrame;
    return { regions: this.regions, knownSeconds: Math.min(this.totalSeconds, frameSeconds(frame)) };
  }

  async end(): Promise<Span[]> {
    this.close();
    await this.settle();
    return this.regions;
  }

  private close(): void {
    if (this.open.levels.length > 0) this.ended.push(this.open);
    this.open = { firstFrame: 0, levels: [] };
  }

  /** Converts a run to regions except its last part, which fits into a chunk. Returns that part. */
  private async cutLong(run: Run): Promise<Run> {
    let rest = run;
    while (lengthSeconds(rest.levels.length) > MAX_REGION_SECONDS) {
      const [part, after] = await cutRun(rest, this.pcm);
      this.push(part);
      rest = after;
    }
    return rest;
  }

  private push({ firstFrame, levels }: Run): void {
    if (!levels.some((level) => level > ONSET)) return;
    const startSeconds = Math.max(0, frameSeconds(firstFrame));
    const endSeconds = Math.min(this.totalSeconds, frameSeconds(firstFrame + levels.length));
    if (endSeconds > startSeconds) this.regions.push({ startSeconds, endSeconds });
  }
}

/** Consecutive frames with speech, and the probability of speech in each. */
interface Run {
  firstFrame: number;
  levels: number[];
}

/** Minimum length of the part before a cut; prevents many short regions. */
const MIN_CUT_SECONDS = 12;
/**
 * Frames over which speech strength is averaged (0.19 s), so that cuts fall into pauses and not into stop consonants.
 */
const CUT_FRAMES = 11;
/** Loudness range below the loudest frame. All frames below it are pauses and count as equally quiet. */
const DECIBEL_RANGE = 40;

/**
 * Cuts a run at its weakest frame between 12 and 29 s; among equal frames, the later one wins. Loudness counts as much
 * as the probability of speech, which stays at 1 through the pauses between words.
 */
async function cutRun(run: Run, pcm: PcmFile): Promise<[Run, Run]> {
  const frames = run.levels.findIndex((_, frame) => lengthSeconds(frame + 1) > MAX_REGION_SECONDS);
  const head = run.levels.slice(0, frames < 0 ? run.levels.length : frames);
  const loudness = await relativeLoudness(run.firstFrame, head.length, pcm);
  const at = weakest(head.map((level, frame) => level + (loudness[frame] ?? 0)));
  return [
    { firstFrame: run.firstFrame, levels: run.levels.slice(0, at) },
    { firstFrame: run.firstFrame + at, levels: run.levels.slice(at) },
  ];
}

/** Returns the duration of a number of frames in seconds. */
function lengthSeconds(frames: number): number {
  return frameSeconds(frames) - frameSeconds(0);
}

/** Returns each frame's loudness from 0 (40 dB or more below the loudest frame) to 1. */
async function relativeLoudness(firstFrame: number, frames: number, pcm: PcmFile): Promise<number[]> {
  const samples = await readPcm(pcm, frameSample(firstFrame), frames * FRAME_SAMPLES);
  const decibels = frameDecibels(samples, FRAME_SAMPLES);
  const loudest = Math.max(...decibels);
  return Array.from(decibels, (value) => Math.max(0, 1 - (loudest - value) / DECIBEL_RANGE));
}

/** Returns the frame with the smallest sum of strengths around it; among equal frames, the later one. */
function weakest(strengths: readonly number[]): number {
  const half = (CUT_FRAMES - 1) / 2;
  const earliest = strengths.findIndex((_, frame) => lengthSeconds(frame) >= MIN_CUT_SECONDS);
  let best = strengths.length - 1 - half;
  let least = Number.POSITIVE_INFINITY;
  for (let frame = earliest; frame < strengths.length - half; frame++) {
    let sum = 0;
    for (let near = frame - half; near <= frame + half; near++) sum += strengths[near] ?? 0;
    if (sum <= least) {
      least = sum;
      best = frame;
    }
  }
  return best;
}
