import { BlockActivity } from "./activity.ts";
import { FrameAverage } from "./frame-average.ts";
import { blockCount, frameSeconds, SAMPLE_RATE } from "./grid.ts";
import type { PcmFile } from "./pcm.ts";

/** A stretch of the recording in which somebody speaks. */
export interface SpeechRegion {
  startSeconds: number;
  endSeconds: number;
}

/**
 * Speech begins where its probability exceeds ONSET and lasts while it exceeds OFFSET. Music, pink noise and silence stay
 * under 0.22; the quietest and the shortest single words of the corpus reach 0.88.
 */
const ONSET = 0.5;
const OFFSET = 0.25;
/** Speech longer than this is cut at its weakest moment, so that every region fits into a chunk with its padding. */
const LONGEST_SECONDS = 29;
/** A cut leaves at least this much on its left, lest it makes many short regions. */
const SHORTEST_CUT_SECONDS = 12;
/** A moment's strength is averaged over this many frames (0.15 s): a cut belongs into a pause, not into a stop consonant. */
const CUT_FRAMES = 9;

/**
 * The speech of a recording in order, not overlapping, from the activity of all of its blocks. Empty where nobody speaks.
 * No region is longer than 29 s: where somebody speaks on, it is cut at the weakest moment and the next region begins
 * right there. Reads one block at a time.
 */
export async function speechRegions(pcm: PcmFile, activityDirectory: string): Promise<SpeechRegion[]> {
  const finder = new RegionFinder(pcm.sampleCount / SAMPLE_RATE);
  const average = new FrameAverage(1, (frame, values) => finder.add(frame, values[0] ?? 0));
  for (let block = 0; block < blockCount(pcm.sampleCount); block++) {
    const activity = await BlockActivity.read(activityDirectory, block);
    for (let window = 0; window < activity.windows; window++) {
      average.add((frame) => activity.speech(window, frame));
    }
  }
  average.end();
  return finder.end();
}

/** Turns speech probabilities, frame by frame, into regions. */
class RegionFinder {
  private readonly regions: SpeechRegion[] = [];
  /** Levels since the probability last rose above OFFSET; confirmed as speech once one of them passes ONSET. */
  private levels: number[] = [];
  private firstFrame = 0;
  private confirmed = false;

  constructor(private readonly totalSeconds: number) {}

  add(frame: number, level: number): void {
    if (frameSeconds(frame) >= this.totalSeconds || level <= OFFSET) {
      this.close();
      return;
    }
    if (this.levels.length === 0) this.firstFrame = frame;
    this.levels.push(level);
    this.confirmed ||= level > ONSET;
    if (frameSeconds(frame + 1) - frameSeconds(this.firstFrame) >= LONGEST_SECONDS) this.cut();
  }

  end(): SpeechRegion[] {
    this.close();
    return this.regions;
  }

  private close(): void {
    if (this.confirmed) this.push(this.firstFrame + this.levels.length);
    this.levels = [];
    this.confirmed = false;
  }

  private cut(): void {
    const at = weakest(this.levels);
    if (this.confirmed) this.push(this.firstFrame + at);
    this.levels = this.levels.slice(at);
    this.firstFrame += at;
    this.confirmed = this.levels.some((level) => level > ONSET);
  }

  private push(endFrame: number): void {
    const startSeconds = Math.max(0, frameSeconds(this.firstFrame));
    const endSeconds = Math.min(this.totalSeconds, frameSeconds(endFrame));
    if (endSeconds > startSeconds) this.regions.push({ startSeconds, endSeconds });
  }
}

/** The frame around which speech is weakest, the later one of equals. */
function weakest(levels: readonly number[]): number {
  const half = (CUT_FRAMES - 1) / 2;
  const earliest = levels.findIndex((_, frame) => frameSeconds(frame) - frameSeconds(0) >= SHORTEST_CUT_SECONDS);
  let best = levels.length - 1 - half;
  let least = Number.POSITIVE_INFINITY;
  for (let frame = earliest; frame < levels.length - half; frame++) {
    let sum = 0;
    for (let near = frame - half; near <= frame + half; near++) sum += levels[near] ?? 0;
    if (sum <= least) {
      least = sum;
      best = frame;
    }
  }
  return best;
}
