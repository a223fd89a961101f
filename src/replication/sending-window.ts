import { PIECE_BYTES, ProtocolError } from "./messages.ts";

/** Time that content may need to the standby's file. Whatever is sent after it is delayed by as much. */
const LATE_MILLISECONDS = 200;
const MIN_BYTES = 2 * PIECE_BYTES;
const MAX_BYTES = 16 * 1024 * 1024;
/** Growth for each piece that was stored in time, and decrease for each one that was late. */
const GROWTH_BYTES = PIECE_BYTES / 4;
const DECREASE_BYTES = PIECE_BYTES;

/**
 * Limits the content of files that is on its way, so that it delays the transactions after it little, whatever the speed
 * of the network and of the standby's disk is. Without it, buffers of the network would hold several megabytes.
 */
export class SendingWindow {
  readonly #now: () => number;
  #bytes = 4 * PIECE_BYTES;
  #sent = 0;
  #stored = 0;
  /** The last messages: the total after each, and its time. */
  readonly #pieces: { readonly total: number; readonly at: number }[] = [];

  /** @param now monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether content that nobody waits for may be sent. */
  get isOpen(): boolean {
    return this.#sent - this.#stored < this.#bytes;
  }

  sent(bytes: number): void {
    this.#sent += bytes;
    this.#pieces.push({ total: this.#sent, at: this.#now() });
  }

  /** @param total bytes that the standby has written in all. @throws {ProtocolError} */
  stored(total: number): void {
    if (total > this.#sent || total < this.#stored) throw new ProtocolError("the standby stored what was not sent");
    this.#stored = total;
    const open = this.#pieces.findIndex((piece) => piece.total > total);
    const last = this.#pieces.splice(0, open === -1 ? this.#pieces.length : open).at(-1);
    if (last === undefined) return;
    const isLate = this.#now() - last.at > LATE_MILLISECONDS;
    const bytes = this.#bytes + (isLate ? -DECREASE_BYTES : GROWTH_BYTES);
    this.#bytes = Math.min(Math.max(bytes, MIN_BYTES), MAX_BYTES);
  }
}
