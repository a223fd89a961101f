import { FRAME_SAMPLES } from "../../blocks/index.ts";

/** Level in dB relative to full scale below which a frame has no speech: digital silence, and dither. */
const SILENCE_DECIBELS = -70;
/** Level of frames of which nothing is known. */
export const UNKNOWN_DECIBELS = 0;

/** Levels of the latest frames of a session's sound: frame n has the samples from `n * FRAME_SAMPLES`. */
export class FrameLevels {
  readonly #decibels: Float32Array;
  /** The frame after the last complete one, and the first one that is known. */
  #end: number;
  readonly #start: number;
  #sum = 0;
  #count: number;

  /**
   * @param frames number of frames that are kept
   * @param sampleCount samples of an earlier server, whose levels are not known
   */
  constructor(frames: number, sampleCount = 0) {
    this.#decibels = new Float32Array(frames);
    this.#end = Math.floor(sampleCount / FRAME_SAMPLES);
    this.#count = sampleCount % FRAME_SAMPLES;
    this.#start = this.#count === 0 ? this.#end : this.#end + 1;
  }

  add(samples: Int16Array): void {
    for (const sample of samples) {
      this.#sum += sample * sample;
      this.#count += 1;
      if (this.#count < FRAME_SAMPLES) continue;
      const power = this.#sum / FRAME_SAMPLES / 32_768 ** 2;
      this.#decibels[this.#end % this.#decibels.length] = Math.max(-100, 10 * Math.log10(power));
      this.#end += 1;
      this.#sum = 0;
      this.#count = 0;
    }
  }

  /** Returns the level of a frame in dB relative to full scale; `UNKNOWN_DECIBELS` if it is not kept. */
  decibels(frame: number): number {
    const isKept = frame >= this.#start && frame < this.#end && frame >= this.#end - this.#decibels.length;
    return isKept ? (this.#decibels[frame % this.#decibels.length] ?? UNKNOWN_DECIBELS) : UNKNOWN_DECIBELS;
  }

  /** Returns whether a frame is so quiet that it has no speech. */
  isSilent(frame: number): boolean {
    return this.decibels(frame) < SILENCE_DECIBELS;
  }
}
