import { once } from "node:events";
import type { Duplex } from "node:stream";
import { kinds, MAX_MESSAGE_BYTES, ProtocolError, type ServerMessage, type StandbyMessage } from "./messages.ts";

/** A message: its kind, see `kinds`, and its content. */
export interface Message {
  readonly kind: number;
  readonly body: Buffer;
}

/** Maximum time for the end of a connection. */
const END_MILLISECONDS = 1_000;
/** Length of the content and the kind. */
const HEAD_BYTES = 5;

/** Messages on a connection. Each has its length in four bytes, its kind in one, and its content. */
export class Channel<Sent extends ServerMessage | StandbyMessage> {
  readonly #stream: Duplex;
  /** Time of the last bytes that arrived, by `performance.now()`. */
  lastArrivalAt = performance.now();

  constructor(stream: Duplex) {
    this.#stream = stream;
    // An error also ends the loop over the messages.
    stream.on("error", () => {});
  }

  /** Resolves when more may be sent. @throws {Error} when the connection is closed */
  async send(message: Sent): Promise<void> {
    await this.sendBytes(kinds.json, Buffer.from(JSON.stringify(message)));
  }

  /** Sends bytes, which must not change until this resolves. */
  async sendBytes(kind: number, ...parts: readonly Uint8Array[]): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded) throw new Error("the connection is closed");
    const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(length);
    head[HEAD_BYTES - 1] = kind;
    // One write for each message, so that two senders do not mix their parts.
    if (stream.write(Buffer.concat([head, ...parts], HEAD_BYTES + length))) return;
    const closed = new AbortController();
    const { signal } = closed;
    await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]).finally(() =>
      closed.abort(),
    );
    if (stream.destroyed) throw new Error("the connection was closed");
  }

  /** Yields the messages that arrive until the connection ends. @throws {ProtocolError} @throws {Error} */
  async *messages(): AsyncGenerator<Message> {
    let waiting: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
      this.lastArrivalAt = performance.now();
      waiting.push(chunk);
      bytes += chunk.length;
      const first = waiting[0];
      if (first !== undefined && first.length >= HEAD_BYTES && bytes < HEAD_BYTES + first.readUInt32BE(0)) {
        requireAllowed(first.readUInt32BE(0));
        continue;
      }
      let rest: Buffer = waiting.length === 1 ? chunk : Buffer.concat(waiting, bytes);
      for (;;) {
        if (rest.length < HEAD_BYTES) break;
        const end = HEAD_BYTES + requireAllowed(rest.readUInt32BE(0));
        if (rest.length < end) break;
        yield { kind: rest.readUInt8(HEAD_BYTES - 1), body: rest.subarray(HEAD_BYTES, end) };
        rest = rest.subarray(end);
      }
      waiting = rest.length === 0 ? [] : [rest];
      bytes = rest.length;
    }
  }

  /** Sends what is waiting, and resolves when the other side has closed the connection, or after a second. */
  async end(): Promise<void> {
    const stream = this.#stream;
    const waiting = new AbortController();
    const late = setTimeout(() => waiting.abort(), END_MILLISECONDS);
    const closed = once(stream, "close", { signal: waiting.signal });
    stream.end();
    // Whatever still arrives is dropped; unread bytes would reset the connection before the last message is read.
    stream.resume();
    await closed.catch(() => {});
    clearTimeout(late);
  }

  destroy(): void {
    this.#stream.destroy();
  }
}

function requireAllowed(bytes: number): number {
  if (bytes > MAX_MESSAGE_BYTES) throw new ProtocolError(`a message of ${bytes} bytes is too large`);
  return bytes;
}
