import type { Logger } from "../../../telemetry/index.ts";
import type { Socket, SocketHandler } from "../sockets.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Close codes of live WebSockets (RFC 6455, 7.4.1). */
export const closeCodes = {
  /** The session has ended. */
  ended: 1000,
  /** The server stops. */
  goingAway: 1001,
  /** The client sent a frame of a type that has no meaning here. */
  wrongType: 1003,
  /** The client sends too much, reads too slowly, or may no longer use the server. */
  policy: 1008,
  /** A frame is too large. */
  tooLarge: 1009,
  /** A fault of the server. */
  fault: 1011,
} as const;

/** A protocol that a client speaks over a WebSocket. */
export interface LiveProtocol {
  text(text: string): void;
  binary(bytes: Uint8Array): void;
  /** The connection is over, also if it never opened. Called last, and once. */
  closed(wasOpen: boolean): void;
}

export interface GuardOptions {
  readonly log: Logger;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Frames that a client may send at once: ten minutes of sound in frames of 20 ms, which a session may send ahead. */
const FRAME_BURST = 30_000;
/** Frames that a client may send each second. Programs send 5 to 50. */
const FRAMES_PER_SECOND = 200;
/** Messages other than sound that a client may send at once, and each second. Some of them write to the disk. */
const COMMAND_BURST = 300;
const COMMANDS_PER_SECOND = 20;
/** Messages without meaning that a client may send at once, and each second. */
const MISTAKE_BURST = 20;
const MISTAKES_PER_SECOND = 0.1;
/** Bytes that a client may leave unread: a quarter of an hour of words. */
const MAX_UNSENT_BYTES = 1024 * 1024;

type State =
  /** Messages wait for the socket; then, perhaps, its end. */
  | { readonly kind: "connecting"; readonly waiting: string[]; end: readonly [code: number, reason: string] | null }
  | { readonly kind: "open"; readonly socket: Socket; firstBytes: number }
  | { readonly kind: "closed" };

/**
 * Protects the server from the client of a live WebSocket: limits the rate of its frames, its mistakes and the bytes
 * that it leaves unread, and keeps faults of the protocol from the server.
 */
export class GuardedSocket implements SocketHandler {
  readonly #options: GuardOptions;
  readonly #protocol: LiveProtocol;
  readonly #frames: TokenBucket;
  readonly #commands: TokenBucket;
  readonly #mistakes: TokenBucket;
  #state: State = { kind: "connecting", waiting: [], end: null };

  /** @param connect creates the protocol, which may send messages at once */
  constructor(options: GuardOptions, connect: (socket: GuardedSocket) => LiveProtocol) {
    this.#options = options;
    this.#frames = new TokenBucket(FRAME_BURST, FRAMES_PER_SECOND, options.now);
    this.#commands = new TokenBucket(COMMAND_BURST, COMMANDS_PER_SECOND, options.now);
    this.#mistakes = new TokenBucket(MISTAKE_BURST, MISTAKES_PER_SECOND, options.now);
    this.#protocol = connect(this);
  }

  /** Whether messages still reach the client. */
  get isOpen(): boolean {
    return this.#state.kind === "open" || (this.#state.kind === "connecting" && this.#state.end === null);
  }

  /** Sends a message. A client that reads too slowly is disconnected. Does nothing after the end. */
  send(message: object): void {
    const state = this.#state;
    if (state.kind === "closed") return;
    const text = JSON.stringify(message);
    if (state.kind === "connecting") {
      if (state.end === null) state.waiting.push(text);
      return;
    }
    state.socket.send(text);
    const unsent = state.socket.unsentBytes;
    if (unsent <= MAX_UNSENT_BYTES) state.firstBytes = 0;
    if (unsent > MAX_UNSENT_BYTES + state.firstBytes) this.end(closeCodes.policy, "The client reads too slowly.");
  }

  /** Closes the connection. */
  end(code: number, reason: string): void {
    const state = this.#state;
    if (state.kind === "closed") return;
    if (state.kind === "connecting") {
      state.end ??= [code, reason];
      return;
    }
    this.#finish(true);
    state.socket.close(code, reason);
  }

  /** Counts a message other than sound. @returns false if there were too many, which ends the connection */
  countCommand(): boolean {
    return this.#spend(this.#commands);
  }

  /** Counts a message without meaning. @returns false if there were too many, which ends the connection */
  countMistake(): boolean {
    if (this.#mistakes.spend()) return true;
    this.end(closeCodes.policy, "Too many messages are not valid.");
    return false;
  }

  /** Runs code of the protocol. An unexpected error ends the connection: it is logged and not sent. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the connection after an unexpected error. */
  fail(error: unknown): void {
    const { log, requestId } = this.#options;
    log.error({ event: "live.fault", requestId, err: error });
    this.end(closeCodes.fault, "Something went wrong on our side.");
  }

  open(socket: Socket): void {
    const state = this.#state;
    if (state.kind !== "connecting") throw new Error("a WebSocket was opened twice");
    // What a resumed session begins with may be long, and does not make its client a slow one.
    const firstBytes = state.waiting.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    this.#state = { kind: "open", socket, firstBytes };
    for (const text of state.waiting) socket.send(text);
    if (state.end !== null) this.end(...state.end);
  }

  message(data: string | Uint8Array): void {
    if (this.#state.kind !== "open" || !this.#spend(this.#frames)) return;
    this.run(() => (typeof data === "string" ? this.#protocol.text(data) : this.#protocol.binary(data)));
  }

  ping(): void {
    this.#spend(this.#frames);
  }

  close(): void {
    if (this.#state.kind !== "closed") this.#finish(this.#state.kind === "open");
  }

  #spend(bucket: TokenBucket): boolean {
    if (bucket.spend()) return true;
    this.end(closeCodes.policy, "Too many messages.");
    return false;
  }

  #finish(wasOpen: boolean): void {
    this.#state = { kind: "closed" };
    this.run(() => this.#protocol.closed(wasOpen));
  }
}
