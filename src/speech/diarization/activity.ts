import { LOCAL_SPEAKERS, readBlock, WINDOW_FRAMES, writeBlock } from "../../blocks/index.ts";
import type { WorkArea } from "../../timeline/index.ts";

const MARK = "TAC2";
const WINDOW_BYTES = WINDOW_FRAMES * LOCAL_SPEAKERS;
const SCALE = 255;

/** Speaker activity in the windows of one block, as the segmentation model outputs it. */
export class BlockActivity {
  constructor(
    readonly firstWindow: number,
    readonly windows: number,
    /** Probabilities × 255: [window][frame][local speaker]. */
    private readonly levels: Uint8Array,
  ) {}

  /** Quantises the model's probabilities for consecutive windows. */
  static fromProbabilities(firstWindow: number, probabilities: Float32Array): BlockActivity {
    const levels = new Uint8Array(probabilities.length);
    for (let i = 0; i < levels.length; i++) levels[i] = Math.round((probabilities[i] ?? 0) * SCALE);
    return new BlockActivity(firstWindow, levels.length / WINDOW_BYTES, levels);
  }

  static async read(area: WorkArea, block: number): Promise<BlockActivity> {
    const { firstWindow, count, body } = await readBlock(area, "activity", block, MARK);
    return new BlockActivity(firstWindow, count, body);
  }

  /** Writes the block atomically. */
  async write(area: WorkArea, block: number): Promise<void> {
    await writeBlock(area, "activity", block, MARK, {
      firstWindow: this.firstWindow,
      count: this.windows,
      recordBytes: WINDOW_BYTES,
      body: this.levels,
    });
  }

  /**
   * Returns the probability that a local speaker is active in a frame. @param window relative to the block's first
   * window
   */
  probability(window: number, frame: number, local: number): number {
    return (this.levels[window * WINDOW_BYTES + frame * LOCAL_SPEAKERS + local] ?? 0) / SCALE;
  }

  /** Returns the probability that anyone speaks in a frame: the probability of the most active local speaker. */
  speech(window: number, frame: number): number {
    const at = window * WINDOW_BYTES + frame * LOCAL_SPEAKERS;
    let most = 0;
    for (let local = 0; local < LOCAL_SPEAKERS; local++) most = Math.max(most, this.levels[at + local] ?? 0);
    return most / SCALE;
  }
}
