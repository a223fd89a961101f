/**
 * The latest sound of a session, so that a connection that was lost can send again what the server has not received.
 * Positions count samples from the start of the session, as the server counts them.
 */
export class SoundBuffer {
  readonly #maxSamples: number;
  #frames: Int16Array<ArrayBuffer>[] = [];
  /** Position of the first sample that is stored. */
  #start = 0;
  /** Position of the next sample to send; between `#start` and `#end`. */
  #next = 0;
  #end = 0;

  /** @param maxSamples number of samples that are stored at most */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Number of samples of the session so far. */
  get end(): number {
    return this.#end;
  }

  /** Number of samples that have not been sent. */
  get waiting(): number {
    return this.#end - this.#next;
  }

  /** Adds sound. If too much is waiting, the oldest is dropped, and the session lacks it. */
  add(frame: Int16Array<ArrayBuffer>): void {
    this.#frames.push(frame);
    this.#end += frame.length;
    while (this.#end - this.#start > this.#maxSamples) {
      const dropped = this.#frames.shift()?.length ?? 0;
      if (this.#next > this.#start) {
        this.#start += dropped;
        this.#next = Math.max(this.#next, this.#start);
      } else {
        // The server never receives this sound: what follows moves to its place.
        this.#end -= dropped;
      }
    }
  }

  /** Returns the next sound to send, and counts it as sent; null if all is sent. */
  take(): Int16Array<ArrayBuffer> | null {
    let position = this.#start;
    for (const frame of this.#frames) {
      const end = position + frame.length;
      if (end > this.#next) {
        const rest = frame.subarray(this.#next - position);
        this.#next = end;
        return rest;
      }
      position = end;
    }
    return null;
  }

  /** Continues at the position up to which the server has received the sound. */
  continueAt(position: number): void {
    // Otherwise the server lacks sound that is no longer stored.
    if (position < this.#start || position > this.#end) this.beginAt(position);
    else this.#next = position;
  }

  /** Moves all stored sound to a position, from which it is sent. */
  beginAt(position: number): void {
    this.#end += position - this.#start;
    this.#start = position;
    this.#next = position;
  }
}
