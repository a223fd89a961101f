import { blockCount, frameSeconds, type PcmFile, SAMPLE_RATE, type Span } from "../../timeline/index.ts";
import { BlockActivity } from "./activity.ts";
import { cutRun, lengthSeconds, type Run } from "./cut.ts";
import { FrameAverage } from "./frame-average.ts";
import { PcmReader } from "./pcm.ts";

/**
 * Speech begins where its probability exceeds ONSET and lasts while it exceeds OFFSET. On 74 clips made quiet, clipped,
 * noisy or like a telephone's, 0.5 and 0.25 lose 1.6 % of the speech, and one telephone call as a whole; these lose half
 * as much, and take 5 % of an hour of noise, music and tones for speech in place of 4 %: that costs time, but no invented
 * words, since what whisper guesses is left out.
 */
const ONSET = 0.3;
const OFFSET = 0.15;
/** Speech longer than this is cut at its weakest moment, so that every region fits into a chunk with its padding. */
const LONGEST_SECONDS = 29;

/**
 * The speech of a recording in order, not overlapping, from the activity of all of its blocks. Empty where nobody speaks.
 * No region is longer than 29 s: where somebody speaks on, it is cut at the weakest moment and the next region begins
 * right there. Reads one block at a time, and of the samples what is to be cut.
 */
export async function speechRegions(pcm: PcmFile, activityDirectory: string): Promise<Span[]> {
  await using reader = await PcmReader.open(pcm);
  const finder = new RegionFinder(pcm.sampleCount / SAMPLE_RATE, reader);
  const average = new FrameAverage(1, (frame, values) => finder.add(frame, values[0] ?? 0));
  for (let block = 0; block < blockCount(pcm.sampleCount); block++) {
    const activity = await BlockActivity.read(activityDirectory, block);
    for (let window = 0; window < activity.windows; window++) {
      average.add((frame) => activity.speech(window, frame));
    }
    await finder.settle();
  }
  average.end();
  return await finder.end();
}

/** Turns speech probabilities, frame by frame, into regions. */
class RegionFinder {
  private readonly regions: Span[] = [];
  /** Speech that has ended and waits to be cut. */
  private ended: Run[] = [];
  /** Frames since the probability last rose above OFFSET; speech once one of them passes ONSET. */
  private open: Run = { firstFrame: 0, levels: [] };

  constructor(
    private readonly totalSeconds: number,
    private readonly reader: PcmReader,
  ) {}

  add(frame: number, level: number): void {
    if (frameSeconds(frame) >= this.totalSeconds || level <= OFFSET) {
      this.close();
      return;
    }
    if (this.open.levels.length === 0) this.open.firstFrame = frame;
    this.open.levels.push(level);
  }

  /** Makes regions of what has ended, and of what is too long already of the rest. */
  async settle(): Promise<void> {
    for (const run of this.ended) this.push(await this.cutLong(run));
    this.ended = [];
    this.open = await this.cutLong(this.open);
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

  /** Makes regions of all of a run but its last part, which fits into a chunk. */
  private async cutLong(run: Run): Promise<Run> {
    let rest = run;
    while (lengthSeconds(rest.levels.length) > LONGEST_SECONDS) {
      const [part, after] = await cutRun(rest, LONGEST_SECONDS, this.reader);
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
