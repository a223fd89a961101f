import { frameSeconds } from "./grid.ts";

/** A stretch in which one speaker speaks. */
export interface Turn {
  startSeconds: number;
  endSeconds: number;
  /** Counts from 0 in order of first appearance. */
  speaker: number;
}

/** A speaker speaks in a frame from this probability on. */
const HEARD = 0.45;
/** Pauses of one speaker up to this length belong to the turn. */
const PAUSE_SECONDS = 0.6;

interface Open {
  startFrame: number;
  endFrame: number;
}

/** Turns the speakers' probabilities, frame by frame, into turns: streaming, it holds the turns and one open one per speaker. */
export class TurnFinder {
  private readonly turns: Turn[] = [];
  private readonly open: (Open | undefined)[];
  private readonly pauseFrames: number;

  constructor(
    speakers: number,
    private readonly totalSeconds: number,
  ) {
    this.open = Array.from({ length: speakers }, () => undefined);
    this.pauseFrames = Math.round(PAUSE_SECONDS / (frameSeconds(1) - frameSeconds(0)));
  }

  /** Takes the next frame: a probability per speaker. */
  add(frame: number, probabilities: Float64Array): void {
    if (frameSeconds(frame) >= this.totalSeconds) return;
    for (let speaker = 0; speaker < this.open.length; speaker++) {
      if ((probabilities[speaker] ?? 0) < HEARD) continue;
      const open = this.open[speaker];
      if (open !== undefined && frame - open.endFrame < this.pauseFrames) {
        open.endFrame = frame + 1;
        continue;
      }
      this.close(speaker);
      this.open[speaker] = { startFrame: frame, endFrame: frame + 1 };
    }
  }

  /** All turns in order of their starts; speakers without one have no number. */
  end(): Turn[] {
    for (const speaker of this.open.keys()) this.close(speaker);
    const sorted = this.turns.sort((a, b) => a.startSeconds - b.startSeconds || a.speaker - b.speaker);
    const numbers = new Map<number, number>();
    return sorted.map((turn) => {
      const speaker = numbers.get(turn.speaker) ?? numbers.size;
      numbers.set(turn.speaker, speaker);
      return { ...turn, speaker };
    });
  }

  private close(speaker: number): void {
    const open = this.open[speaker];
    if (open === undefined) return;
    const startSeconds = open.startFrame === 0 ? 0 : frameSeconds(open.startFrame);
    const endSeconds = Math.min(this.totalSeconds, frameSeconds(open.endFrame));
    this.turns.push({ startSeconds, endSeconds, speaker });
    this.open[speaker] = undefined;
  }
}
