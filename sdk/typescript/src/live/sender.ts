import { NoAnswerError } from "../errors.ts";
import type { Clock } from "../retries.ts";
import type { Connection } from "./connection.ts";
import type { Outbox } from "./outbox.ts";

/** Bytes that a connection may buffer. The rest waits in the outbox, from which it can be sent again. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Pause between looks at the buffer of a connection; no event reports that it was sent. */
const POLL_MILLISECONDS = 20;
/** Time without progress after which a connection with a full buffer counts as lost. */
const STALL_MILLISECONDS = 20_000;

/** Sends what is in an outbox, as fast as the current connection takes it. */
export class Sender {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  #connection: Connection | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The smallest amount in the full buffer of the connection, and since when; null while it is not full. */
  #full: { readonly bytes: number; readonly since: number } | null = null;
  #waiting: (() => void)[] = [];

  constructor(outbox: Outbox, clock: Clock) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Sends by another connection, or by none. */
  use(connection: Connection | null): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#full = null;
    this.#connection = connection;
    this.send();
  }

  /** Sends what the connection takes now, and the rest later. */
  send(): void {
    const connection = this.#connection;
    if (connection === null || this.#timer !== undefined) return;
    while (connection.bufferedBytes < MAX_BUFFERED_BYTES) {
      const data = this.#outbox.next();
      if (data === null) break;
      connection.send(data);
    }
    this.release();
    if (this.#outbox.isEmpty) this.#full = null;
    else this.#sendLater(connection);
  }

  /** Waits until something was sent, or `release` is called. */
  async sent(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waits. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #sendLater(connection: Connection): void {
    const now = this.#clock.now();
    const bytes = connection.bufferedBytes;
    if (this.#full === null || bytes < this.#full.bytes) this.#full = { bytes, since: now };
    if (now - this.#full.since > STALL_MILLISECONDS) {
      connection.abandon(new NoAnswerError("the server takes no more sound", true));
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.send();
    }, POLL_MILLISECONDS);
  }
}
