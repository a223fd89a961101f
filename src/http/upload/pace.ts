/** The slowest sender that the server waits for. */
export interface PaceLimits {
  /** Time that is free of any demand on the average, so that a connection may start slowly. */
  readonly graceSeconds: number;
  /** Least average of all bytes so far, once the time of grace is over: the total deadline of an upload of that size. */
  readonly bytesPerSecond: number;
  /** Longest time for the next `bytesPerSecond`, however fast the sender was before: it may be gone without a word. */
  readonly silenceSeconds: number;
}

/** The contract's limits: a mobile phone on a poor link sends several times as fast. */
export const uploadPace: PaceLimits = { graceSeconds: 60, bytesPerSecond: 16 * 1024, silenceSeconds: 60 };

/** A sender that takes longer than the limits allow. */
export class TooSlowError extends Error {
  override readonly name = "TooSlowError";
}

/**
 * The time that a sender has left. Only the time that the server waits for the sender counts, never the time that the server
 * takes to write what has arrived.
 */
export class Pace {
  readonly #limits: PaceLimits;
  #waited = 0;
  #arrived = 0;
  #waitedSinceProgress = 0;
  #arrivedSinceProgress = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** Milliseconds that the sender may still take for its next bytes. Negative when it is too slow. */
  get patience(): number {
    const { graceSeconds, bytesPerSecond, silenceSeconds } = this.#limits;
    const total = (graceSeconds + this.#arrived / bytesPerSecond) * 1000 - this.#waited;
    return Math.min(total, silenceSeconds * 1000 - this.#waitedSinceProgress);
  }

  /** Counts bytes, and the milliseconds that the server waited for them. */
  count(bytes: number, waited: number): void {
    this.#waited += waited;
    this.#arrived += bytes;
    this.#waitedSinceProgress += waited;
    this.#arrivedSinceProgress += bytes;
    if (this.#arrivedSinceProgress < this.#limits.bytesPerSecond) return;
    this.#waitedSinceProgress = 0;
    this.#arrivedSinceProgress = 0;
  }
}

/**
 * Reads the chunks of a body as they come.
 * @throws {TooSlowError} when the sender takes longer than the limits allow
 * @throws what the body throws when its sender is gone
 */
export async function* readAtPace(body: ReadableStream<Uint8Array>, limits: PaceLimits): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const pace = new Pace(limits);
  try {
    for (;;) {
      const expired = Promise.withResolvers<never>();
      const since = performance.now();
      const timer = setTimeout(() => expired.reject(new TooSlowError("the sender is too slow")), pace.patience);
      const { done, value } = await Promise.race([reader.read(), expired.promise]).finally(() => clearTimeout(timer));
      if (done) return;
      pace.count(value.byteLength, performance.now() - since);
      if (pace.patience < 0) throw new TooSlowError("the sender is too slow");
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
