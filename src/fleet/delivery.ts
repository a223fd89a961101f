import type { DeliveryInfo, JsMsg } from "@nats-io/jetstream";
import { type Msg, nanos } from "@nats-io/transport-node";

/**
 * An operation that the broker delivered to this machine: a message of the library's consumer, or a FetchedMessage. It
 * ends with `ack`, `nak`, with which the broker delivers it again after a pause, or `term`, because no worker can read it;
 * the first of them counts. `working` reports progress, so that the broker does not deliver it to another worker.
 */
export interface Delivery extends Pick<JsMsg, "data" | "working" | "ack" | "nak" | "term"> {
  /** The number of deliveries: more than 1 if an earlier worker did not finish the operation. */
  readonly info: Pick<DeliveryInfo, "deliveryCount">;
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

  get info(): Delivery["info"] {
    const tokens = (this.#message.reply ?? "").split(".");
    return { deliveryCount: Number(tokens[COUNT_TOKEN + (tokens.length > SHORT_TOKENS ? 2 : 0)]) };
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

  term(reason = ""): void {
    this.#end(`+TERM ${reason}`);
  }

  #end(answer: string): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#message.respond(answer);
  }
}
