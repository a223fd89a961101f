import { blockCount, frameSeconds, SAMPLE_RATE, type Span, type WorkArea } from "../../timeline/index.ts";
import { BlockActivity } from "./activity.ts";
import { cutRun, lengthSeconds, type Run } from "./cut.ts";
import { FrameAverage } from "./frame-average.ts";
import { PcmReader } from "./pcm.ts";

/**
 * Speech begins when its probability exceeds ONSET and lasts while it exceeds OFFSET. Tested on 74 clips that were made
 * quiet, clipped, noisy or telephone-like. With 0.5 and 0.25, 1.6 % of the speech and one whole telephone call are
 * lost. The values here lose half as much. They classify 5 % of an hour of noise, music and tones as speech instead of
 * 4 %. That costs time but adds no hallucinated words, because the recognizer's guesses are discarded.
 */
const ONSET = 0.3;
const OFFSET = 0.15;
/** Longer speech is cut at its weakest frame, so that every region with its padding fits into a chunk. */
const LONGEST_SECONDS = 29;

/**
 * Returns the speech regions of a recording, computed from the activity of all its blocks. They are in order and do not
 * overlap; the list is empty if nobody speaks. No region is longer than 29 s. Longer speech is cut at its weakest
 * frame, and the next region begins there. Reads one block at a time, and only the samples of speech that must be cut.
 */
export async function speechRegions(area: WorkArea): Promise<Span[]> {
  const { pcm } = area;
  await using reader = await PcmReader.open(pcm);
  const finder = new RegionFinder(pcm.sampleCount / SAMPLE_RATE, reader);
  const average = new FrameAverage(1, (frame, values) => finder.add(frame, values[0] ?? 0));
  for (let block = 0; block < blockCount(pcm.sampleCount); block++) {
    const activity = await BlockActivity.read(area, block);
    for (let window = 0; window < activity.windows; window++) {
      average.add((frame) => activity.speech(window, frame));
    }
    await finder.settle();
  }
  average.end();
  return await finder.end();
}

/** Converter from speech probabilities, frame by frame, to regions. */
class RegionFinder {
  private readonly regions: Span[] = [];
  /** Finished runs that wait to be cut. */
  private ended: Run[] = [];
  /** Frames since the probability last rose above OFFSET. They become speech if one of them exceeds ONSET. */
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

  /** Converts the finished runs to regions, and the part of the open run that is already too long. */
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

  /** Converts a run to regions except its last part, which fits into a chunk. Returns that part. */
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
