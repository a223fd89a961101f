import type { LiveEncoding } from "../../../../sdk/typescript/src/index.ts";

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
