import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { Broker } from "./broker.ts";
import { BrokerError } from "./connection.ts";

export interface WorkQueueOptions {
  readonly broker: Broker;
  /** The connection that carries operations; `broker` if it is omitted. */
  readonly partsBroker?: Broker;
  /** This build. */
  readonly build: string;
  /** Returns the SHA-256 of the models that operations may need. */
  readonly models: () => readonly string[];
  /**
   * Returns whether this coordinator holds its lease. Otherwise another one may use the streams, which this one must not
   * create anew. Always if it is omitted.
   */
  readonly holdsLease?: () => boolean;
  readonly log: Logger;
}

/**
 * The stream of one pool, or of the workers with certificates of their own. It is disposable: it is created anew after
 * each connection, and nothing that was published before arrives.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #pool: string;
  /** Models whose consumers the present stream has. */
  #consumers = new Set<string>();
  #opening: Promise<void> | null = null;
  #removing: Promise<void> = Promise.resolve();
  #isOpen = false;
  /** Last reported reason why the broker cannot be used; empty if it can. */
  #trouble = "";

  /** @param pool empty: the workers with certificates of their own */
  constructor(pool: string, options: WorkQueueOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  get #partsBroker(): Broker {
    return this.#options.partsBroker ?? this.#options.broker;
  }

  get #isConnected(): boolean {
    return this.#options.broker.connected && this.#partsBroker.connected;
  }

  /** Whether the stream takes operations. */
  get isOpen(): boolean {
    return this.#isOpen && this.#isConnected;
  }

  /** Whether the stream has to be created, and can be. */
  get canOpen(): boolean {
    return !this.#isOpen && this.#isConnected;
  }

  /** Creates the stream. Resolves when it takes operations. @throws {BrokerError} if the broker cannot be used */
  open(): Promise<void> {
    // A second stream would delete what is published to the first one.
    this.#opening ??= this.#create().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Creates the stream if the broker can be used. @returns whether it takes operations; otherwise the reason is logged */
  async tryOpen(): Promise<boolean> {
    try {
      await this.open();
      this.#trouble = "";
      return true;
    } catch (error) {
      const [trouble, pool] = [messageOf(error), this.#pool];
      if (trouble !== this.#trouble) {
        this.#options.log.error({ event: "fleet.broker_unusable", trouble, ...(pool === "" ? {} : { pool }) });
      }
      this.#trouble = trouble;
      return false;
    }
  }

  /** Notes that the stream cannot be used, and has to be created again. */
  close(): void {
    this.#isOpen = false;
  }

  /** Deletes the stream, so that the broker's memory holds no audio that nobody fetches. */
  remove(): Promise<void> {
    this.#isOpen = false;
    this.#removing = this.#options.broker
      .streamOf(this.#pool)
      .remove()
      // The next start or reconnect creates it anew.
      .catch((error) => {
        this.#options.log.debug({ event: "fleet.stream_not_removed", pool: this.#pool, trouble: messageOf(error) });
      });
    return this.#removing;
  }

  /** Ensures that the stream has the consumer for the operations of a model. */
  async ensureConsumer(model: string): Promise<void> {
    const known = this.#consumers;
    if (known.has(model)) return;
    const { broker, build } = this.#options;
    await broker.streamOf(this.#pool).ensureConsumer(build, model);
    known.add(model);
  }

  /** Publishes an operation. @returns its position in the stream */
  publish(model: string, id: string, message: Uint8Array): Promise<number> {
    return this.#partsBroker.streamOf(this.#pool).publish(this.#options.build, model, id, message);
  }

  async #create(): Promise<void> {
    const { broker, models, holdsLease } = this.#options;
    if (holdsLease?.() === false) throw new BrokerError("the coordinator does not hold its lease");
    // An operation that is published before the stream is complete would be deleted with the old one.
    this.#isOpen = false;
    await this.#removing;
    await broker.streamOf(this.#pool).reset();
    this.#consumers = new Set();
    for (const model of ["none", ...models()]) await this.ensureConsumer(model);
    this.#isOpen = true;
  }
}
