import { messageOf } from "../text/index.ts";
import type { Published } from "./first-reports.ts";
import { type cancelSchema, encode, MAX_MESSAGE_BYTES, streamBytesOf, subjects } from "./messages.ts";
import { estimateBytes, type PendingOperation, packOperation } from "./pending-operation.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

export interface PublicationsOptions extends WorkQueueOptions {
  /**
   * A second connection, which carries the parts of recordings to the broker. Otherwise the answers to workers wait behind
   * megabytes. Parts use the other connection if it is omitted.
   */
  readonly partsBroker?: NonNullable<WorkQueueOptions["partsBroker"]>;
  /** This start of the coordinator. */
  readonly coordinator: string;
  /** Called when the broker has an operation that is still awaited. */
  readonly onPublished: (id: string, published: Omit<Published, "at">) => void;
  /** Called when a publication is no longer awaited. */
  readonly onRemoved: (id: string) => void;
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
 * Share of a stream's memory that operations may fill. The broker refuses what does not fit, and the queue would have to
 * be opened again. The rest is for operations that were withdrawn, which stay in the stream until a worker fetches them.
 */
const MAX_STREAM_SHARE = 0.8;

/**
 * The operations that the broker or a worker has, and the queues that carry them: one for the workers with certificates
 * of their own, and one for each pool. An operation has one publication at most, so that an answer counts only while its
 * publication is listed here.
 */
export class Publications {
  readonly #options: PublicationsOptions;
  /** Operations by the ids of their publications, in the order of their publication. */
  readonly #published = new Map<string, PendingOperation>();
  /** By pool; the broker's settings limit their number. */
  readonly #queues = new Map<string, WorkQueue>();
  /** Numbers of the operations by pool and model: they are read for each waiting operation. */
  readonly #numbers = new Map<string, Map<string | null, number>>();
  /** Bytes of the operations in the streams, by pool. */
  readonly #bytes = new Map<string, number>();
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
    this.queueOf("");
  }

  /** Returns the queue of a pool. @param pool empty: of the workers with certificates of their own */
  queueOf(pool: string): WorkQueue {
    const queue = this.#queues.get(pool) ?? new WorkQueue(pool, this.#options);
    this.#queues.set(pool, queue);
    return queue;
  }

  /** The pools that have had workers; the first one is empty, for the workers with certificates of their own. */
  get pools(): readonly string[] {
    return [...this.#queues.keys()];
  }

  get size(): number {
    return this.#published.size;
  }

  /** Returns whether the queue of a pool is open and its stream has memory for further operations. */
  takesMore(pool: string): boolean {
    return this.queueOf(pool).isOpen && (this.#bytes.get(pool) ?? 0) < MAX_STREAM_SHARE * streamBytesOf(pool);
  }

  /** Returns the number of operations that a worker of a pool may run instead of one with this model. */
  competingWith(model: string | null, pool: string): number {
    const numbers = this.#numbers.get(pool);
    if (numbers === undefined) return 0;
    if (model === null) return numbers.values().reduce((sum, number) => sum + number, 0);
    return (numbers.get(model) ?? 0) + (numbers.get(null) ?? 0);
  }

  /** Returns the machines that have operations, as far as they reported them. */
  holders(): ReadonlySet<string> {
    const holders = [...this.#published.values()].map(({ machine, fetchedBy }) => machine ?? fetchedBy);
    return new Set(holders.filter((holder) => holder !== null));
  }

  /**
   * Publishes an operation for the workers of its pool; it is listed from the call on.
   * @param id unique and unguessable: only the worker that receives the operation may answer for it
   * @returns `failed` if the broker did not take it, and then the queue has to be opened again
   * @throws {Error} if the operation's own data cannot be read
   */
  async publish(id: string, operation: PendingOperation): Promise<PublishOutcome> {
    this.#published.set(id, operation);
    this.#countOne(operation, 1);
    this.#countBytes(operation, estimateBytes(operation));
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
    const { coordinator, log } = this.#options;
    const { pool } = operation;
    const queue = this.queueOf(pool);
    // It was closed while the operation waited for its turn.
    if (!queue.isOpen) return this.remove(id) ? "failed" : "withdrawn";
    let message: Uint8Array;
    try {
      message = await packOperation(operation, id, coordinator);
    } catch (error) {
      if (!this.remove(id)) return "withdrawn";
      throw error;
    }
    if (!this.#published.has(id)) return "withdrawn";
    this.#countBytes(operation, message.length);
    if (message.length > MAX_MESSAGE_BYTES) {
      log.warn({ event: "fleet.operation_too_large", operation: operation.operation, bytes: message.length });
      this.remove(id);
      return "too large";
    }
    try {
      const model = operation.model ?? "none";
      await queue.ensureConsumer(model);
      await this.#turn(message.length);
      if (!this.#published.has(id)) return "withdrawn";
      const sequence = await queue.publish(model, id, message);
      const published = { pool, model: operation.model, sequence, bytes: message.length };
      if (this.#published.has(id)) this.#options.onPublished(id, published);
      this.counts.published++;
      this.counts.sentBytes += message.length;
      return "published";
    } catch (error) {
      if (!this.remove(id)) return "withdrawn";
      log.warn({ event: "fleet.publish_failed", operation: operation.operation, trouble: messageOf(error) });
      queue.close();
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
    const operation = this.#published.get(id);
    if (operation === undefined) return false;
    this.#published.delete(id);
    this.#countOne(operation, -1);
    this.#countBytes(operation, 0);
    this.#options.onRemoved(id);
    return true;
  }

  #countOne({ pool, model }: PendingOperation, change: 1 | -1): void {
    const numbers = this.#numbers.get(pool) ?? new Map<string | null, number>();
    this.#numbers.set(pool, numbers);
    numbers.set(model, (numbers.get(model) ?? 0) + change);
  }

  /** Counts the bytes of an operation in its pool's stream. */
  #countBytes(operation: PendingOperation, bytes: number): void {
    const { pool } = operation;
    this.#bytes.set(pool, (this.#bytes.get(pool) ?? 0) + bytes - operation.bytes);
    operation.bytes = bytes;
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
}
