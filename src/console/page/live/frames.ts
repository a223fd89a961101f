/** Duration of the sound that is sent at once. */
const FRAME_SECONDS = 0.1;
const FULL_SCALE = 32_767;

/** Mixes the channels of a microphone to one, and collects the samples to frames of 16 bits. */
export class Frames {
  readonly #size: number;
  #frame: Int16Array<ArrayBuffer>;
  #filled = 0;

  /** @param sampleRate samples per second of each channel */
  constructor(sampleRate: number) {
    this.#size = Math.round(sampleRate * FRAME_SECONDS);
    this.#frame = new Int16Array(this.#size);
  }

  /**
   * Adds samples.
   * @param channels samples from -1 to 1, of the same number in each channel
   * @returns the frames that are complete with them
   */
  add(channels: readonly Float32Array[]): Int16Array<ArrayBuffer>[] {
    const complete: Int16Array<ArrayBuffer>[] = [];
    const count = channels[0]?.length ?? 0;
    for (let index = 0; index < count; index++) {
      let sum = 0;
      for (const channel of channels) sum += channel[index] ?? 0;
      const sample = Math.max(-1, Math.min(1, sum / channels.length));
      this.#frame[this.#filled++] = Math.round(sample * FULL_SCALE);
      if (this.#filled < this.#size) continue;
      complete.push(this.#frame);
      this.#frame = new Int16Array(this.#size);
      this.#filled = 0;
    }
    return complete;
  }
}

/** The quietest level that the meter shows, in decibels below full scale. */
const QUIETEST_DECIBELS = 60;

/** Returns the level of a frame: 0 for silence, 1 for full scale, linear in decibels between them. */
export function levelOf(frame: Int16Array): number {
  let squares = 0;
  for (const sample of frame) squares += sample * sample;
  const share = Math.sqrt(squares / Math.max(1, frame.length)) / FULL_SCALE;
  return share === 0 ? 0 : Math.min(1, Math.max(0, 1 + (20 * Math.log10(share)) / QUIETEST_DECIBELS));
}
