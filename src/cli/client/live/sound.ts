import type { LiveEncoding, LiveEvent } from "../../../../sdk/typescript/src/index.ts";

/** Sound of one channel from a recording, standard input or a microphone. */
export interface Sound extends AsyncDisposable {
  readonly encoding: LiveEncoding;
  /** Samples per second. */
  readonly sampleRate: number;
  /**
   * Reads the sound, once.
   * @throws {CommandError} when it can't be read @throws the signal's reason
   */
  pieces(signal: AbortSignal): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

export const SAMPLE_BYTES: Readonly<Record<LiveEncoding, number>> = { pcm16: 2, float32: 4, mulaw: 1, alaw: 1 };

/** Length of a piece that is sent at once. Words can't arrive faster. */
const PIECE_SECONDS = 0.1;
/** Sound that may be sent faster than it plays, after a source that has paused. */
const MAX_LAG_SECONDS = 2;
/** Sound that may be ahead of the words. A server takes more: ten minutes. */
const MAX_AHEAD_SECONDS = 240;

/** Time for pacing. */
export interface PaceClock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Waits. @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const systemClock: PaceClock = {
  now: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => reject(signal.reason);
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  },
};

/** Yields sound in short pieces, not faster than it plays. */
export async function* inRealTime(
  { encoding, sampleRate }: Pick<Sound, "encoding" | "sampleRate">,
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  clock: PaceClock = systemClock,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytesPerSecond = sampleRate * SAMPLE_BYTES[encoding];
  const pieceBytes = Math.ceil(sampleRate * PIECE_SECONDS) * SAMPLE_BYTES[encoding];
  let startedAt: number | null = null;
  let sent = 0;
  for await (const bytes of pieces) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const now = clock.now();
      startedAt ??= now;
      const ahead = sent / bytesPerSecond - (now - startedAt) / 1000;
      if (ahead > 0) await clock.sleep(1000 * ahead, signal);
      // The source has paused: this time is not caught up.
      if (ahead < -MAX_LAG_SECONDS) startedAt = now - 1000 * (sent / bytesPerSecond + MAX_LAG_SECONDS);
      const piece = bytes.subarray(at, at + pieceBytes);
      sent += piece.length;
      yield piece;
    }
  }
}

/** The position in the sound up to which a server has reported words or speech. */
export class HeardPosition {
  seconds = 0;
  #moved = Promise.withResolvers<void>();

  note(event: LiveEvent): void {
    const seconds = secondsIn(event);
    if (seconds <= this.seconds) return;
    this.seconds = seconds;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  /** Waits until it changes. */
  moved(): Promise<void> {
    return this.#moved.promise;
  }
}

/**
 * Yields sound as fast as a server takes it: at most some minutes ahead of its words. It reports nothing in a silence, so
 * sound that is further ahead is sent as fast as it plays.
 */
export async function* aheadOf(
  heard: HeardPosition,
  { encoding, sampleRate }: Pick<Sound, "encoding" | "sampleRate">,
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  clock: PaceClock = systemClock,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytesPerSecond = sampleRate * SAMPLE_BYTES[encoding];
  let sent = 0;
  for await (const piece of pieces) {
    const isAhead = () => sent / bytesPerSecond - heard.seconds > MAX_AHEAD_SECONDS;
    const played = isAhead() ? clock.sleep((1000 * piece.length) / bytesPerSecond, signal).then(() => true) : null;
    while (played !== null && isAhead() && (await Promise.race([played, heard.moved()])) !== true);
    played?.catch(() => {});
    signal.throwIfAborted();
    sent += piece.length;
    yield piece;
  }
}

function secondsIn(event: LiveEvent): number {
  switch (event.type) {
    case "speech_started":
    case "speech_stopped":
      return event.seconds;
    case "partial":
      return event.words.at(-1)?.end ?? 0;
    case "final":
      return event.segment.end;
    default:
      return 0;
  }
}
