import { WINDOW_FRAMES } from "../../blocks/index.ts";
import { framesIn, lastFrameWithin, windowEnd } from "../turns/index.ts";
import type { LiveArea } from "./live-area.ts";
import type { TurnKeeper } from "./turn-keeper.ts";

/** New sound from which the speech in it is detected: each detection computes a window of five seconds. */
const STEP_FRAMES = framesIn(0.2);
/** Maximum number of frames of one detection: each has some sound before it in the window. */
const MAX_FRAMES = WINDOW_FRAMES - framesIn(1);

/** Detects the speech in the sound of a session, frame by frame. */
export class SpeechWatch {
  readonly #area: LiveArea;
  readonly #turns: TurnKeeper;
  /** Probability of the last detected frame. */
  #last = 0;

  constructor(area: LiveArea, turns: TurnKeeper) {
    this.#area = area;
    this.#turns = turns;
  }

  /** Detects the next frames, if there are enough of them. @returns whether there were */
  async step(): Promise<boolean> {
    if (this.#addSilence()) return true;
    const { sampleCount } = this.#area;
    const next = this.#turns.nextFrame;
    const boundary = this.#turns.boundaryFrame;
    const available = lastFrameWithin(sampleCount);
    if (available - next >= (boundary === null ? STEP_FRAMES : 1)) {
      const end = Math.min(available, next + MAX_FRAMES);
      const probabilities = await this.#area.detectSpeech(windowEnd(end));
      // A boundary that was reached meanwhile without sound may have filled in some frames.
      for (let frame = this.#turns.nextFrame; frame < end; frame++) {
        this.#add(probabilities[WINDOW_FRAMES - (end - frame)] ?? 0);
      }
      return true;
    }
    if (boundary === null || next >= boundary) return false;
    // The last window ends some frames before the sound does.
    while (this.#turns.nextFrame < boundary) this.#add(this.#last);
    return true;
  }

  /** Adds the frames without sound that are next. They cost no operation. */
  #addSilence(): boolean {
    const first = this.#turns.nextFrame;
    while (this.#area.levels.isSilent(this.#turns.nextFrame)) this.#add(0);
    return this.#turns.nextFrame > first;
  }

  #add(probability: number): void {
    this.#last = probability;
    this.#turns.addFrame(probability, this.#area.levels.decibels(this.#turns.nextFrame));
  }
}
