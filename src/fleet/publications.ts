import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { Broker } from "./broker.ts";
import type { Published } from "./first-reports.ts";
import { type cancelSchema, encode, MAX_MESSAGE_BYTES, subjects } from "./messages.ts";
import { type PendingOperation, packOperation } from "./pending-operation.ts";

export interface PublicationsOptions {
  readonly broker: Broker;
  /**
   * A second connection, which carries the parts of recordings to the broker. Otherwise the answers to workers wait behind
   * megabytes. Parts use the other connection if it is omitted.
   */
  readonly partsBroker?: Broker;
  /** This build, and this start of the coordinator. */
  readonly build: string;
  readonly coordinator: string;
  /** Returns the SHA-256 of the models that operations may need. */
  readonly models: () => readonly string[];
  /** Called when the broker has an operation that is still awaited. */
  readonly onPublished: (id: string, published: Omit<Published, "at">) => void;
  /** Called when a publication is no longer awaited. */
  readonly onRemoved: (id: string) => void;
  readonly log: Logger;
}

type PublishOutcome = "published" | "withdrawn" | "too large" | "failed";

/**
 * Bytes that are sent in one turn of the event loop, unless one message is larger. To send a block of PCM, 3.9 MB, stops the
 * server for 2 to 6 ms, and at the start of a recording many are sent.
 */
const MAX_TURN_BYTES = 5_000_000;

/**
 * Operations that are packed and sent at the same time. What waits for the socket is copied to one buffer when the socket
 * is free again; ten blocks of PCM stopped the server for 30 ms.
 */
const MAX_SENDING = 2;

/**
 * The operations that the broker or a worker has, and the stream that carries them. An operation has one publication at
 * most, so that an answer counts only while its publication is listed here. The stream is disposable: it is created
 * anew after each connection, and nothing that was published before arrives.
 */
export class Publications {
  readonly #options: PublicationsOptions;
  /** Operations by the ids of their publications, in the order of their publication. */
  readonly #published = new Map<string, PendingOperation>();
  /** Models whose consumers the present stream has. */
  #consumers = new Set<string>();
  #opening: Promise<void> | null = null;
  #isOpen = false;
  /** Last reported reason why the broker cannot be used; empty if it can. */
  #brokerTrouble = "";
  /** Bytes that were sent in this turn of the event loop, and the beginning of the next one. */
  #turnBytes = 0;
  #nextTurn: Promise<void> = Promise.resolve();
  /** Operations that are packed or sent now, and those that wait for it, in their order. */
  #sending = 0;
  readonly #waiting: (() => void)[] = [];
  /** Publications since the start, and their bytes. */
  readonly counts = { published: 0, sentBytes: 0 };

  constructor(options: PublicationsOptions) {
    this.#options = options;
  }

  /** Whether the stream takes operations. */
  get isOpen(): boolean {
    return this.#isOpen && this.#options.broker.connected && this.#partsBroker.connected;
  }

  /** Whether the stream has to be created, and can be. */
  get canOpen(): boolean {
    return !this.#isOpen && this.#options.broker.connected && this.#partsBroker.connected;
  }

  get #partsBroker(): Broker {
    return this.#options.partsBroker ?? this.#options.broker;
  }

  get size(): number {
    return this.#published.size;
  }

  /** Returns the number of operations that a worker may run instead of one with this model. */
  competingWith(model: string | null): number {
    const isCompeting = (other: string | null) => other === model || other === null || model === null;
    return [...this.#published.values()].filter((each) => isCompeting(each.model)).length;
  }

  /** Creates the stream. Resolves when it takes operations. @throws {BrokerError} if the broker cannot be used */
  open(): Promise<void> {
    // A second stream would delete what is published to the first one.
    this.#opening ??= this.#createStream().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Creates the stream if the broker can be used. @returns whether it takes operations; otherwise the reason is logged */
  async tryOpen(): Promise<boolean> {
    try {
      await this.open();
      this.#brokerTrouble = "";
      return true;
    } catch (error) {
      const trouble = messageOf(error);
      if (trouble !== this.#brokerTrouble) this.#options.log.error({ event: "fleet.broker_unusable", trouble });
      this.#brokerTrouble = trouble;
      return false;
    }
  }

  /** Returns the machines that have operations, as far as they reported them. */
  holders(): ReadonlySet<string> {
    const holders = [...this.#published.values()].map(({ machine, fetchedBy }) => machine ?? fetchedBy);
    return new Set(holders.filter((holder) => holder !== null));
  }

  /**
   * Publishes an operation; it is listed from the call on.
   * @param id unique and unguessable: only the worker that receives the operation may answer for it
   * @returns `failed` if the broker did not take it, and then the stream has to be opened again
   * @throws {Error} if the operation's own data cannot be read
   */
  async publish(id: string, operation: PendingOperation): Promise<PublishOutcome> {
    this.#published.set(id, operation);
    operation.machine = null;
    operation.fetchedBy = null;
    operation.delivery = 0;
    if (this.#sending === MAX_SENDING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#sending++;
    try {
      return this.#published.has(id) ? await this.#send(id, operation) : "withdrawn";
    } finally {
      // The next one takes the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#sending--;
      else next();
    }
  }

  async #send(id: string, operation: PendingOperation): Promise<PublishOutcome> {
    const { build, coordinator, log } = this.#options;
    let message: Uint8Array;
    try {
      message = await packOperation(operation, id, coordinator);
    } catch (error) {
      if (!this.remove(id)) return "withdrawn";
      throw error;
    }
    if (!this.#published.has(id)) return "withdrawn";
    if (message.length > MAX_MESSAGE_BYTES) {
      log.warn({ event: "fleet.operation_too_large", operation: operation.operation, bytes: message.length });
      this.remove(id);
      return "too large";
    }
    try {
      const model = operation.model ?? "none";
      await this.#ensureConsumers([model]);
      await this.#turn(message.length);
      if (!this.#published.has(id)) return "withdrawn";
      const sequence = await this.#partsBroker.stream.publish(subjects.work(build, model), id, message);
      const published = { model: operation.model, sequence, bytes: message.length };
      if (this.#published.has(id)) this.#options.onPublished(id, published);
      this.counts.published++;
      this.counts.sentBytes += message.length;
      return "published";
    } catch (error) {
      if (!this.remove(id)) return "withdrawn";
      log.warn({ event: "fleet.publish_failed", operation: operation.operation, trouble: messageOf(error) });
      this.#isOpen = false;
      return "failed";
    }
  }

  /** Waits until a message may be sent in this turn of the event loop. */
  async #turn(bytes: number): Promise<void> {
    while (this.#turnBytes > 0 && this.#turnBytes + bytes > MAX_TURN_BYTES) await this.#nextTurn;
    if (this.#turnBytes === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#nextTurn = promise;
      setImmediate(() => {
        this.#turnBytes = 0;
        resolve();
      });
    }
    this.#turnBytes += bytes;
  }

  /** Returns an awaited operation; undefined if nobody waits for this publication any more. */
  get(id: string): PendingOperation | undefined {
    return this.#published.get(id);
  }

  /** Removes a publication that was answered. @returns whether it was still awaited */
  remove(id: string): boolean {
    const isAwaited = this.#published.delete(id);
    if (isAwaited) this.#options.onRemoved(id);
    return isAwaited;
  }

  /**
   * Takes operations back and cancels them on their workers.
   * @returns them in the order of their publication; each still names the machine that ran it
   */
  withdraw(isAffected: (operation: PendingOperation, id: string) => boolean): readonly PendingOperation[] {
    const { broker, coordinator } = this.#options;
    const affected = [...this.#published].filter(([id, operation]) => isAffected(operation, id));
    for (const [id] of affected) {
      this.remove(id);
      if (!broker.connected) continue;
      broker.publish(subjects.cancel(coordinator), encode({ id } satisfies typeof cancelSchema.static));
    }
    return affected.map(([, operation]) => operation);
  }

  async #createStream(): Promise<void> {
    const { broker, models } = this.#options;
    // An operation that is published before the stream is complete would be deleted with the old one.
    this.#isOpen = false;
    await broker.stream.reset();
    this.#consumers = new Set();
    await this.#ensureConsumers(["none", ...models()]);
    this.#isOpen = true;
  }

  async #ensureConsumers(models: readonly string[]): Promise<void> {
    const { broker, build } = this.#options;
    const known = this.#consumers;
    for (const model of models) {
      if (known.has(model)) continue;
      await broker.stream.ensureConsumer(build, model);
      known.add(model);
    }
  }
}
