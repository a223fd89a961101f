import type { JsMsg } from "@nats-io/jetstream";
import { type Msg, nanos } from "@nats-io/transport-node";

/** An operation that the broker delivered to this machine. It ends with `ack`, `nak` or `term`; the first of them counts. */
export interface Delivery {
  readonly data: Uint8Array;
  /** 1, or more if an earlier worker did not finish the operation. */
  readonly count: number;
  /** Reports progress, so that the broker does not deliver it to another worker. */
  working(): void;
  /** Reports that it needs no other worker. */
  ack(): void;
  /** Returns it to the broker, which delivers it again after a pause. */
  nak(pauseMilliseconds?: number): void;
  /** Reports that no worker can read it. */
  term(reason: string): void;
}

/** Returns a message that the library's consumer fetched. */
export function deliveryOf(message: JsMsg): Delivery {
  return {
    data: message.data,
    count: message.info.deliveryCount,
    working: () => message.working(),
    ack: () => message.ack(),
    nak: (pauseMilliseconds) => message.nak(pauseMilliseconds),
    term: (reason) => message.term(reason),
  };
}

/**
 * Number of tokens in the reply subject of a delivery: `$JS.ACK`, stream, consumer, count, sequences, time and pending
 * messages. With more of them, the domain and the account follow `$JS.ACK` (NATS, ADR-15).
 */
const SHORT_TOKENS = 9;
const COUNT_TOKEN = 4;

/** A message that was fetched with a request of its own: the library's consumer always waits for one. */
export class FetchedMessage implements Delivery {
  readonly #message: Msg;
  #isAnswered = false;

  constructor(message: Msg) {
    this.#message = message;
  }

  get data(): Uint8Array {
    return this.#message.data;
  }

  get count(): number {
    const tokens = (this.#message.reply ?? "").split(".");
    return Number(tokens[COUNT_TOKEN + (tokens.length > SHORT_TOKENS ? 2 : 0)]);
  }

  working(): void {
    if (!this.#isAnswered) this.#message.respond("+WPI");
  }

  ack(): void {
    this.#end("+ACK");
  }

  nak(pauseMilliseconds = 0): void {
    this.#end(pauseMilliseconds === 0 ? "-NAK" : `-NAK ${JSON.stringify({ delay: nanos(pauseMilliseconds) })}`);
  }

  term(reason: string): void {
    this.#end(`+TERM ${reason}`);
  }

  #end(answer: string): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#message.respond(answer);
  }
}
