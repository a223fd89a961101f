import { ApiError, BadAnswerError, LiveClosedError, NoAnswerError, TranscribeError } from "../errors.ts";
import type { Transport } from "../transport.ts";
import { Connection } from "./connection.ts";
import { EventQueue } from "./event-queue.ts";
import { KnownSegments } from "./known-segments.ts";
import type {
  LiveEncoding,
  LiveEnded,
  LiveEvent,
  LiveParameters,
  LiveUpdate,
  ServerMessage,
  SessionMessage,
} from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { Sender } from "./sender.ts";

/** Sound to send: bytes, or samples. */
export type LiveSound = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/** Options of a live session. */
export interface LiveOptions extends LiveParameters {
  /** Closes the session: its iteration throws the signal's reason. The server ends it two minutes later. */
  readonly signal?: AbortSignal | undefined;
}

const PATH = "/live";
/** Time for which a server waits for the client of a lost connection. */
const RESUME_MILLISECONDS = 120_000;
/** Time for one attempt to resume. */
const RESUME_TIMEOUT_SECONDS = 10;
const FIRST_PAUSE_MILLISECONDS = 500;
const MAX_PAUSE_MILLISECONDS = 5000;
/** Close codes after which a session can't be resumed: the same frames would be wrong again. */
const FINAL_CODES: readonly number[] = [1003, 1007, 1009];
/** Close code of a client that exceeds a limit, such as a computer that slept and read no events. */
const LIMIT_CODE = 1008;
/** Time for which a session is not resumed again after it exceeded a limit. */
const LIMIT_MILLISECONDS = 60_000;

/**
 * A session in which words arrive while people speak: an asynchronous iterable of events, up to `ended`. A lost
 * connection is resumed for two minutes, with the sound that the server lacks.
 */
export class LiveSession implements AsyncIterable<LiveEvent> {
  readonly id: string;
  readonly sampleRate: number;
  readonly encoding: LiveEncoding;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #events = new EventQueue();
  readonly #known = new KnownSegments();
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => this.#stop(this.#signal?.reason);
  #connection: Connection | null;
  #state: "open" | "ending" | "over" = "open";
  #failure: unknown = null;
  #ended: LiveEnded | null = null;
  /** When the session exceeded a limit last. */
  #limitedAt = Number.NEGATIVE_INFINITY;
  /** Runs while the end is awaited, from the last message on. */
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** @throws {ApiError} @throws {NoAnswerError} @throws {TypeError} when this runtime has no WebSocket */
  static async open(transport: Transport, { signal, ...parameters }: LiveOptions): Promise<LiveSession> {
    signal?.throwIfAborted();
    const request = { path: PATH, query: { ...parameters } };
    return await new Promise((resolve, reject) => {
      let session: LiveSession | null = null;
      const stop = () => connection.abandon(signal?.reason);
      const connection = new Connection(transport, request, transport.timeoutSeconds, {
        onMessage: (message) => {
          if (session !== null) session.#receive(message);
          if (session !== null || message.type !== "session") return;
          signal?.removeEventListener("abort", stop);
          session = new LiveSession(transport, connection, message, signal);
          resolve(session);
        },
        onClosed: (error) => {
          signal?.removeEventListener("abort", stop);
          if (session === null) reject(error);
          else session.#lose(error);
        },
      });
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  private constructor(
    transport: Transport,
    connection: Connection,
    started: SessionMessage,
    signal: AbortSignal | undefined,
  ) {
    this.#transport = transport;
    this.#connection = connection;
    this.#signal = signal;
    this.id = started.id;
    this.sampleRate = started.sample_rate;
    this.encoding = started.encoding;
    this.#outbox = new Outbox(started.encoding, started.sample_rate);
    this.#sender = new Sender(this.#outbox, transport.clock);
    this.#sender.use(connection);
    this.#events.add(withoutSegments(started));
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /**
   * Sends sound in the session's encoding. The returned promise resolves when more may be sent: at once, unless two
   * minutes of sound wait for a slow or lost connection.
   * @throws the error that ended the session
   */
  async send(sound: LiveSound): Promise<void> {
    this.#requireOpen();
    this.#outbox.addSound(bytesOf(sound));
    this.#sender.send();
    while (this.#outbox.isFull && this.#state !== "over") await this.#sender.sent();
    if (this.#failure !== null) throw this.#failure;
  }

  /** Ends the turn with the sound so far. */
  commit(): void {
    this.#tell({ type: "commit" });
  }

  /** Drops the sound of the turn that has not been committed. It stays in the recording. */
  clear(): void {
    this.#tell({ type: "clear" });
  }

  /** Changes choices from the next turn on. */
  update(changes: LiveUpdate): void {
    this.#tell({ type: "update", ...changes });
  }

  /** Names a speaker, in the recording too. @param speaker the label, e.g. `S1` */
  nameSpeaker(speaker: string, name: string): void {
    this.#tell({ type: "speaker", speaker, name });
  }

  /**
   * Ends the session. The returned promise resolves when all sound has its words; the events until then can still be
   * read.
   * @throws the error that ended the session before
   */
  async end(): Promise<LiveEnded> {
    if (this.#state === "open") {
      this.#tell({ type: "end" });
      this.#state = "ending";
      this.#awaitMessage();
    }
    while (this.#state !== "over") await this.#sender.sent();
    if (this.#ended !== null) return this.#ended;
    throw this.#failure ?? new TranscribeError("the session was closed");
  }

  /** Closes the connection without an end of the session. The server ends the session two minutes later. */
  close(): void {
    this.#stop(null);
  }

  /** Each event can be read once. The iteration ends after `ended`, and throws the error that ended the session. */
  [Symbol.asyncIterator](): AsyncIterator<LiveEvent, undefined> {
    return { next: () => this.#events.next() };
  }

  #requireOpen(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#state !== "open") throw new TranscribeError("the session has ended");
  }

  #tell(message: object): void {
    this.#requireOpen();
    this.#outbox.addMessage(message);
    this.#sender.send();
  }

  #receive(message: ServerMessage): void {
    if (this.#state === "over") return;
    this.#awaitMessage();
    try {
      if (message.type === "session") {
        this.#continue(message);
        return;
      }
      this.#known.note(message);
      // The server stops: it closes the connection, and the session is resumed when it is back.
      if (message.type === "ended" && message.reason === "stopping") return;
      this.#events.add(message);
      if (message.type === "ended") {
        this.#ended = message;
        this.#stop(null);
      }
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Continues on a new connection. */
  #continue(started: SessionMessage): void {
    if (!this.#outbox.rewind(started.received_seconds)) {
      throw new TranscribeError("the server lost sound that the client has no more");
    }
    this.#events.add(withoutSegments(started));
    for (const event of this.#known.missedIn(started.segments)) this.#events.add(event);
    this.#sender.use(this.#connection);
  }

  /** Resumes after the loss of the connection, if that is possible. */
  #lose(error: unknown): void {
    if (this.#state === "over") return;
    this.#connection = null;
    this.#sender.use(null);
    clearTimeout(this.#silence);
    try {
      if (error instanceof BadAnswerError || this.#isFinal(error)) throw error;
      this.#events.add({ type: "disconnected" });
    } catch (final) {
      this.#stop(final);
      return;
    }
    void this.#resume();
  }

  /** Returns whether a close can't be repaired. Limits may be exceeded once a minute. */
  #isFinal(error: unknown): boolean {
    if (!(error instanceof LiveClosedError)) return false;
    if (error.closeCode !== LIMIT_CODE) return FINAL_CODES.includes(error.closeCode);
    const before = this.#limitedAt;
    this.#limitedAt = this.#transport.clock.now();
    return this.#limitedAt - before < LIMIT_MILLISECONDS;
  }

  async #resume(): Promise<void> {
    const { clock } = this.#transport;
    const until = clock.now() + RESUME_MILLISECONDS;
    for (let pause = FIRST_PAUSE_MILLISECONDS; this.#state !== "over"; pause *= 2) {
      const error = await this.#reconnect();
      if (error === null) return;
      if (!mayPass(error) || clock.now() >= until) return this.#stop(error);
      const milliseconds = Math.min(MAX_PAUSE_MILLISECONDS, pause) * (0.5 + clock.random() / 2);
      await clock.sleep(milliseconds, this.#signal).catch(() => {});
    }
  }

  /** Opens a new connection. @returns null, or why there is none */
  #reconnect(): Promise<unknown> {
    const query = { resume: this.id, from_segment: this.#known.firstWanted };
    return new Promise((resolve) => {
      let isStarted = false;
      const connection = new Connection(this.#transport, { path: PATH, query }, RESUME_TIMEOUT_SECONDS, {
        onMessage: (message) => {
          if (!isStarted && this.#state === "over") return connection.abandon(null);
          if (!isStarted) this.#connection = connection;
          isStarted = true;
          resolve(null);
          this.#receive(message);
        },
        onClosed: (error) => {
          resolve(error);
          if (isStarted) this.#lose(error);
        },
      });
    });
  }

  /** Starts the time for the next message again, if the end is awaited. */
  #awaitMessage(): void {
    clearTimeout(this.#silence);
    if (this.#state !== "ending") return;
    const late = new NoAnswerError(`${this.#transport.baseUrl} did not answer in time`, true);
    this.#silence = setTimeout(() => this.#connection?.abandon(late), this.#transport.timeoutSeconds * 1000);
  }

  /** @param failure null after a regular end */
  #stop(failure: unknown): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#failure = failure;
    clearTimeout(this.#silence);
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#sender.use(null);
    this.#sender.release();
    this.#events.end(failure);
    this.#connection?.abandon(failure);
    this.#connection = null;
  }
}

/** Returns whether an attempt to resume may succeed later. The server may still hold the lost connection for good. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 409 || error.status === 429 || error.status >= 500;
  return error instanceof NoAnswerError || (error instanceof LiveClosedError && !FINAL_CODES.includes(error.closeCode));
}

function withoutSegments({ segments: _, ...session }: SessionMessage): LiveEvent {
  return session;
}

function bytesOf(sound: LiveSound): Uint8Array {
  if (sound instanceof ArrayBuffer) return new Uint8Array(sound);
  return new Uint8Array(sound.buffer, sound.byteOffset, sound.byteLength);
}
