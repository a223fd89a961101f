import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import type { Display } from "./judge.ts";
import type { Protocol } from "./protocols.ts";

/** Sound that a client sends at once. */
const CHUNK_SECONDS = 0.1;
/** Messages so close to each other are one display. */
const SAME_MOMENT_SECONDS = 0.02;
/** Time for a session to open. A program may load its model first. */
const OPEN_MILLISECONDS = 60_000;
/** Time after the last sound in which words still count. */
const PATIENCE_SECONDS = 30;

export interface Played {
  readonly displays: readonly Display[];
  /** Seconds from the end of the sound until all words were final; null when they were not in time. */
  readonly endedAfter: number | null;
}

export interface PlayOptions {
  /** Ends the session before the end of the sound. */
  readonly signal?: AbortSignal;
  /** Whether the sound is repeated until the signal. */
  readonly repeats?: boolean;
}

/**
 * Plays sound in a session at the speed at which a microphone records it: a part is sent as soon as its last sample would
 * have been recorded.
 * @throws {Error} when the session is refused, or closed before its end
 */
export async function play(protocol: Protocol, samples: Int16Array, options: PlayOptions = {}): Promise<Played> {
  const session = new PlayedSession(protocol);
  try {
    await session.opened(OPEN_MILLISECONDS);
    session.start();
    await session.send(samples, options);
    const soundEnded = session.seconds;
    await session.send(new Int16Array(protocol.tailSeconds * SAMPLE_RATE), {});
    session.end(protocol.end);
    const isEnded = await session.ended(1000 * PATIENCE_SECONDS);
    return { displays: session.displays, endedAfter: isEnded ? session.seconds - soundEnded : null };
  } finally {
    session.close();
  }
}

class PlayedSession {
  readonly displays: Display[] = [];
  readonly #socket: WebSocket;
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #startedAt = Number.NaN;
  #sentSeconds = 0;
  #isEnding = false;
  #failure: Error | null = null;

  constructor({ url, headers, hello, newReader, tailSeconds }: Protocol) {
    const reader = newReader();
    this.#socket = new WebSocket(url, { headers: { ...headers } });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => {
      if (hello !== null) this.#socket.send(hello);
    };
    this.#socket.onmessage = ({ data }) => {
      try {
        const step = reader.read(JSON.parse(String(data)));
        if (step === "ready") this.#opened.resolve();
        if (step === "shown") this.#show(reader.final, reader.partial);
        if (step === "ended") {
          // The server may close the session at once.
          this.#socket.onclose = null;
          this.#ended.resolve();
        }
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    this.#socket.onclose = ({ code, reason }) => {
      if (this.#isEnding && tailSeconds > 0) {
        // The client of such a program takes the last words as they are.
        this.#show([reader.final, reader.partial].join(" "), "");
        this.#ended.resolve();
      } else {
        const what = Number.isNaN(this.#startedAt) ? "refused" : "closed";
        this.#fail(new Error(`the session was ${what} with ${code} ${reason}`.trim()));
      }
    };
  }

  /** Seconds since the sound started. */
  get seconds(): number {
    return performance.now() / 1000 - this.#startedAt;
  }

  /** Waits until the session takes sound. */
  async opened(milliseconds: number): Promise<void> {
    if (!(await within(this.#opened.promise, milliseconds))) throw new Error("the session did not open in time");
    this.#check();
  }

  start(): void {
    this.#startedAt = performance.now() / 1000;
  }

  async send(samples: Int16Array, { signal, repeats = false }: PlayOptions): Promise<void> {
    const chunk = CHUNK_SECONDS * SAMPLE_RATE;
    do {
      for (let from = 0; from < samples.length && signal?.aborted !== true; from += chunk) {
        const part = samples.slice(from, from + chunk);
        this.#sentSeconds += part.length / SAMPLE_RATE;
        await Bun.sleep(Math.max(0, 1000 * (this.#sentSeconds - this.seconds)));
        this.#check();
        this.#socket.send(part);
      }
    } while (repeats && signal?.aborted !== true);
  }

  end(message: string | Uint8Array<ArrayBuffer>): void {
    this.#isEnding = true;
    this.#socket.send(message);
  }

  /** Waits until all words are final. @returns whether that happened in time */
  async ended(milliseconds: number): Promise<boolean> {
    const isEnded = await within(this.#ended.promise, milliseconds);
    this.#check();
    return isEnded;
  }

  close(): void {
    this.#socket.onclose = null;
    this.#socket.close();
  }

  #show(final: string, partial: string): void {
    const now = this.seconds;
    const last = this.displays.at(-1);
    const isSameMoment = last !== undefined && now - last.at < SAME_MOMENT_SECONDS;
    if (isSameMoment) this.displays.pop();
    this.displays.push({ at: isSameMoment ? last.at : now, final, partial });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#opened.resolve();
    this.#ended.resolve();
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

/** Waits for a promise. @returns whether it was settled in time */
async function within(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  const waited = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => waited.resolve(false), milliseconds);
  try {
    return await Promise.race([promise.then(() => true), waited.promise]);
  } finally {
    clearTimeout(timer);
  }
}
