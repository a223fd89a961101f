import type { LiveMessage } from "../../contract/index.ts";
import { SoundBuffer } from "./sound-buffer.ts";

/** The part of a browser's WebSocket that a connection uses. */
export type ClientSocket = Pick<WebSocket, "bufferedAmount" | "send" | "close"> & {
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
};

/** Time, which tests replace. */
export interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Calls `run` once. @returns a function that prevents it */
  after(milliseconds: number, run: () => void): () => void;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

export type Link = "connecting" | "connected" | "lost";

/** Why a connection is over for good. */
export type Closing =
  /** The session has ended; its last message says why. */
  | { readonly kind: "ended" }
  /** The server refuses the session. */
  | { readonly kind: "refused"; readonly message: string }
  /** The session can't be continued: the page was without a connection for too long. */
  | { readonly kind: "expired" }
  /** The server can't be reached, or something on the way doesn't forward WebSockets. */
  | { readonly kind: "unreachable" }
  /** The person is no longer signed in. */
  | { readonly kind: "signed_out" };

export interface ConnectionOptions {
  readonly sampleRate: number;
  /** Opens a WebSocket. @param resume id of the session that it continues; null for a new one */
  readonly open: (resume: string | null) => ClientSocket;
  /** Id of the session that a page continues after it was loaded again; null for a new one. */
  readonly resume: string | null;
  readonly onMessage: (message: LiveMessage) => void;
  readonly onLink: (link: Link) => void;
  readonly onClosed: (closing: Closing) => void;
  /** Returns whether the person is signed in; null if the server can't be reached. */
  readonly isSignedIn: () => Promise<boolean | null>;
  readonly clock: Clock;
}

/** Sound that is stored for a lost connection. The server keeps a session that lost its connection for two minutes. */
const STORED_SECONDS = 130;
/** Sound that the browser holds in a socket at most. More is sent when it has left. */
const MAX_BUFFERED_SECONDS = 2;
/** Interval of the timer that sends waiting sound, and the frames that it sends at once. */
const PUMP_MILLISECONDS = 100;
const PUMP_FRAMES = 5;
/** Time without progress after which a connection counts as lost. */
const STALL_MILLISECONDS = 10_000;
/** Delay before the first attempt to connect again, and its maximum. */
const FIRST_DELAY_MILLISECONDS = 500;
const MAX_DELAY_MILLISECONDS = 5_000;
/** Time without a connection after which the page gives up. A restart of the server takes less. */
const GIVE_UP_MILLISECONDS = 600_000;

/** Codes of refusals that a later attempt may avoid: the server still has the lost connection, or is starting. */
const temporaryCodes: readonly string[] = ["concurrency_limit", "service_unavailable", "rate_limited"];

/** The connection of a live session. It connects again by itself, and sends again what the server has not received. */
export class LiveConnection {
  readonly #options: ConnectionOptions;
  readonly #sound: SoundBuffer;
  #socket: ClientSocket | null = null;
  #link: Link = "connecting";
  /** Id of the session; null before the server has opened it. */
  #id: string | null;
  /** Whether the position of this page's sound in the session is known. */
  #isPlaced: boolean;
  #isEnding = false;
  #hasSentEnd = false;
  #isClosed = false;
  #lostAt: number | null = null;
  #delay = FIRST_DELAY_MILLISECONDS;
  #cancelRetry = () => {};
  #cancelPump = () => {};
  /** Bytes that the socket held after the last frame, and when it was last seen with less. */
  readonly #progress = { buffered: 0, at: 0 };

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#id = options.resume;
    this.#isPlaced = options.resume === null;
    this.#sound = new SoundBuffer(STORED_SECONDS * options.sampleRate);
    this.#connect();
  }

  /** Seconds of sound in the session, including what has not been sent. */
  get seconds(): number {
    return this.#sound.end / this.#options.sampleRate;
  }

  /** Seconds of sound that have not been sent. */
  get waitingSeconds(): number {
    return this.#sound.waiting / this.#options.sampleRate;
  }

  /** Adds sound of the session. */
  add(frame: Int16Array<ArrayBuffer>): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#sound.add(frame);
    this.#pump();
  }

  /** Sends a message, if there is a connection. */
  send(message: Readonly<Record<string, string>>): void {
    if (this.#link === "connected") this.#socket?.send(JSON.stringify(message));
  }

  /** Ends the session once all its sound is sent. */
  end(): void {
    this.#isEnding = true;
    this.#pump();
  }

  /** Connects at once, for example because the browser is online again. */
  retryNow(): void {
    if (this.#link === "lost" && this.#socket === null && !this.#isClosed) this.#connect();
  }

  /** Gives the connection up, for example because the browser is offline, and connects again later. */
  drop(): void {
    if (this.#isClosed || this.#socket === null) return;
    this.#abandonSocket();
    if (this.#id === null) this.#close({ kind: "unreachable" });
    else this.#retry();
  }

  /** Leaves the session as it is. */
  close(): void {
    this.#isClosed = true;
    this.#abandonSocket();
    this.#cancelRetry();
  }

  #connect(): void {
    this.#cancelRetry();
    const socket = this.#options.open(this.#id);
    this.#socket = socket;
    let refusal: Extract<LiveMessage, { type: "refused" }> | null = null;
    let hasSession = false;
    socket.onmessage = ({ data }) => {
      const message: LiveMessage = JSON.parse(String(data));
      if (message.type === "refused") refusal = message;
      else if (message.type === "session") {
        hasSession = true;
        this.#opened(message);
      }
      this.#options.onMessage(message);
      if (message.type === "ended" && message.reason !== "stopping") this.#close({ kind: "ended" });
    };
    socket.onclose = () => {
      this.#abandonSocket();
      if (refusal !== null) this.#refused(refusal);
      else if (hasSession) this.#retry();
      else void this.#failed();
    };
  }

  #opened({ id, received_seconds }: Extract<LiveMessage, { type: "session" }>): void {
    const position = Math.round(received_seconds * this.#options.sampleRate);
    if (this.#isPlaced) this.#sound.continueAt(position);
    else this.#sound.beginAt(position);
    this.#isPlaced = true;
    this.#id = id;
    this.#lostAt = null;
    this.#delay = FIRST_DELAY_MILLISECONDS;
    this.#hasSentEnd = false;
    this.#progress.buffered = 0;
    this.#progress.at = this.#options.clock.now();
    this.#setLink("connected");
    this.#pump();
  }

  #refused({ code, message }: Extract<LiveMessage, { type: "refused" }>): void {
    if (this.#id === null) this.#close({ kind: "refused", message });
    else if (temporaryCodes.includes(code)) this.#retry();
    else if (code === "not_found") this.#close({ kind: "expired" });
    else this.#close({ kind: "refused", message });
  }

  /** Handles an attempt to which the server gave no reason: a browser does not show the page why. */
  async #failed(): Promise<void> {
    const isSignedIn = await this.#options.isSignedIn();
    if (this.#isClosed) return;
    if (isSignedIn === false) this.#close({ kind: "signed_out" });
    else if (this.#id === null) this.#close({ kind: "unreachable" });
    else this.#retry();
  }

  #retry(): void {
    const { clock } = this.#options;
    if (this.#isClosed) return;
    this.#lostAt ??= clock.now();
    this.#setLink("lost");
    if (clock.now() - this.#lostAt > GIVE_UP_MILLISECONDS) {
      this.#close({ kind: "unreachable" });
      return;
    }
    this.#cancelRetry = clock.after(this.#delay, () => this.#connect());
    this.#delay = Math.min(this.#delay * 2, MAX_DELAY_MILLISECONDS);
  }

  /** Sends waiting sound, as much as the socket takes, and goes on later. */
  #pump(): void {
    const { sampleRate, clock } = this.#options;
    const socket = this.#socket;
    this.#cancelPump();
    if (socket === null || this.#link !== "connected") return;
    if (this.#isStalled(socket)) {
      this.drop();
      return;
    }
    const maxBytes = MAX_BUFFERED_SECONDS * sampleRate * 2;
    for (let sent = 0; sent < PUMP_FRAMES && socket.bufferedAmount < maxBytes; sent++) {
      const frame = this.#sound.take();
      if (frame === null) break;
      socket.send(frame);
    }
    if (this.#isEnding && !this.#hasSentEnd && this.#sound.waiting === 0) {
      this.#hasSentEnd = true;
      this.send({ type: "end" });
    }
    this.#progress.buffered = socket.bufferedAmount;
    const isIdle = this.#sound.waiting === 0 && socket.bufferedAmount === 0;
    if (!isIdle) this.#cancelPump = clock.after(PUMP_MILLISECONDS, () => this.#pump());
  }

  /** Returns whether nothing has left the socket for a while. */
  #isStalled({ bufferedAmount }: ClientSocket): boolean {
    const now = this.#options.clock.now();
    const { buffered, at } = this.#progress;
    if (bufferedAmount === 0 || bufferedAmount < buffered) this.#progress.at = now;
    return now - at > STALL_MILLISECONDS && this.#progress.at === at;
  }

  #abandonSocket(): void {
    const socket = this.#socket;
    this.#cancelPump();
    this.#socket = null;
    if (socket === null) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #setLink(link: Link): void {
    if (this.#link === link) return;
    this.#link = link;
    this.#options.onLink(link);
  }

  #close(closing: Closing): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onClosed(closing);
  }
}
