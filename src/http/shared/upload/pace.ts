import { MINIMUM_PACE } from "../../../media/index.ts";

/** Limits for slow senders. */
export interface PaceLimits {
  /** Initial time without a minimum average, so that a connection may start slowly. */
  readonly graceSeconds: number;
  /** Minimum average over all bytes, after the grace time. It sets the total deadline of an upload of a given size. */
  readonly bytesPerSecond: number;
  /**
   * Maximum wait for the next `bytesPerSecond` bytes, however fast the sender was before: it may have vanished
   * silently.
   */
  readonly silenceSeconds: number;
}

/** The contract's limits. A mobile phone on a poor link is several times as fast. */
export const UPLOAD_PACE: PaceLimits = { ...MINIMUM_PACE, silenceSeconds: 60 };

/** Error for a sender that takes longer than the limits allow. */
export class TooSlowError extends Error {
  override readonly name = "TooSlowError";
}

/**
 * Measures the time that a sender has left. Only the time that the server waits for the sender counts. The time that
 * the server takes to write received bytes never counts.
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
  get millisecondsLeft(): number {
    const { graceSeconds, bytesPerSecond, silenceSeconds } = this.#limits;
    const total = (graceSeconds + this.#arrived / bytesPerSecond) * 1000 - this.#waited;
    return Math.min(total, silenceSeconds * 1000 - this.#waitedSinceProgress);
  }

  /** Counts received bytes, and the milliseconds that the server waited for them. */
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
 * Yields the chunks of a body as they arrive.
 * @throws {TooSlowError} when the sender takes longer than the limits allow
 * @throws the error of the body's stream when its sender has disconnected
 */
export async function* readAtPace(body: ReadableStream<Uint8Array>, limits: PaceLimits): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const pace = new Pace(limits);
  try {
    for (;;) {
      const expired = Promise.withResolvers<never>();
      const since = performance.now();
      const timer = setTimeout(() => expired.reject(new TooSlowError("the sender is too slow")), pace.millisecondsLeft);
      const { done, value } = await Promise.race([reader.read(), expired.promise]).finally(() => clearTimeout(timer));
      if (done) return;
      pace.count(value.byteLength, performance.now() - since);
      if (pace.millisecondsLeft < 0) throw new TooSlowError("the sender is too slow");
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
