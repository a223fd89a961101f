import {
  type Consumer,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { messageOf } from "../text/index.ts";
import { isAway } from "./check-credentials.ts";
import { answerMilliseconds, BrokerError, payloadTrouble, REQUEST_MILLISECONDS } from "./connection.ts";
import { type Delivery, FetchedMessage } from "./delivery.ts";
import { consumerOf, encode, MAX_MESSAGE_BYTES, streamBytesOf, streamOf, subjects } from "./messages.ts";

/** Time without a beat after which the broker delivers an operation to another worker. */
export const ACK_WAIT_MILLISECONDS = 10_000;

/** A broker's report about a stream or a consumer. */
export interface BrokerReport {
  readonly storage: "memory" | "file";
  /** Operations that no worker has completed. */
  readonly messages: number;
  /** The broker's clock, in milliseconds since 1970; null before nats-server 2.10. */
  readonly clock: number | null;
}

/** A work-queue stream of a broker: a pool's, or that of the other workers. The coordinator creates it and publishes to it; workers fetch from it. */
export class WorkStream {
  readonly #pool: string;
  readonly #name: string;
  readonly #connection: () => NatsConnection;
  readonly #untilLost: <T>(answer: Promise<T>) => Promise<T>;

  /**
   * @param pool empty: the stream of the workers with certificates of their own
   * @param connection returns the broker's connection @throws {Error} before the first connection
   * @param untilLost waits for an answer of the broker @throws {Error} at once when the connection is lost
   */
  constructor(pool: string, connection: () => NatsConnection, untilLost: <T>(answer: Promise<T>) => Promise<T>) {
    this.#pool = pool;
    this.#name = streamOf(pool);
    this.#connection = connection;
    this.#untilLost = untilLost;
  }

  /**
   * Creates the stream and empties it: nothing in it outlives the coordinator's connection. Only the coordinator may.
   * @throws {BrokerError} if the broker offers no JetStream, stores the stream on disk, or takes small messages only
   */
  async reset(): Promise<void> {
    const manager = await this.#manager();
    const found = await this.#usableStream(manager);
    // A new stream has no consumers of an earlier build.
    if (found !== null) await manager.streams.delete(this.#name);
    await manager.streams.add({
      name: this.#name,
      subjects: [subjects.allWork(this.#pool)],
      retention: "workqueue",
      storage: "memory",
      discard: "new",
      max_bytes: streamBytesOf(this.#pool),
      num_replicas: 1,
    });
  }

  /** Deletes the stream, if there is one. Only the coordinator may. */
  async remove(): Promise<void> {
    const manager = await this.#manager();
    await manager.streams.delete(this.#name).catch((error: unknown) => {
      if (!(error instanceof JetStreamApiError)) throw error;
    });
  }

  /**
   * Returns the broker's report about the stream, which only the coordinator may read; null if there is no stream.
   * @throws {BrokerError} if the coordinator cannot use the broker
   */
  async report(): Promise<BrokerReport | null> {
    const info = await this.#usableStream(await this.#manager());
    return info === null ? null : { storage: info.config.storage, messages: info.state.messages, clock: clockOf(info) };
  }

  /** Returns the broker's report about the workers' shared consumer; null if the coordinator has not created it. */
  async consumerReport(build: string, model: string): Promise<BrokerReport | null> {
    const info = await this.#consumerInfo(build, model);
    if (info === undefined) return null;
    const storage = info.config.mem_storage === true ? "memory" : "file";
    return { storage, messages: info.num_pending + info.num_ack_pending, clock: clockOf(info) };
  }

  /** Returns the position of the last operation that the broker delivered to a worker; 0 if it delivered none. */
  async lastDelivered(build: string, model: string): Promise<number> {
    return (await this.#consumerInfo(build, model))?.delivered.stream_seq ?? 0;
  }

  async #consumerInfo(build: string, model: string) {
    return await (await this.consumer(build, model))?.info(true);
  }

  /** Ensures that the workers' shared consumer for a subject exists. */
  async ensureConsumer(build: string, model: string): Promise<void> {
    const manager = await this.#manager();
    await manager.consumers.add(this.#name, {
      durable_name: consumerOf(build, model),
      filter_subject: subjects.work(this.#pool, build, model),
      ack_policy: "explicit",
      ack_wait: nanos(ACK_WAIT_MILLISECONDS),
      max_deliver: -1,
      max_ack_pending: 10_000,
      mem_storage: true,
    });
  }

  /** Publishes an operation. @returns its position in the stream @throws {Error} at once when the connection is lost */
  async publish(build: string, model: string, id: string, message: Uint8Array): Promise<number> {
    const subject = subjects.work(this.#pool, build, model);
    const options = { msgID: id, timeout: answerMilliseconds(message.length) };
    return (await this.#untilLost(this.#jetstream().publish(subject, message, options))).seq;
  }

  /** Returns the workers' shared consumer; null if the coordinator has not created it. */
  async consumer(build: string, model: string): Promise<Consumer | null> {
    try {
      return await this.#jetstream().consumers.get(this.#name, consumerOf(build, model));
    } catch (error) {
      if (error instanceof JetStreamApiError) return null;
      // The library does not export this class.
      const isDisabled = error instanceof Error && error.name === "JetStreamNotEnabled";
      throw isDisabled ? noJetStream(error) : error;
    }
  }

  /**
   * Fetches an operation that waits in the broker now. Such a request never stays in the broker, so that it takes nothing
   * from a worker that waits for an operation.
   * @returns null if no operation waits
   */
  async nextNow(build: string, model: string): Promise<Delivery | null> {
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#name}.${consumerOf(build, model)}`;
    const request = encode({ batch: 1, no_wait: true });
    // An operation arrives under its own subject, by which the library's shared inbox would not recognize the answer.
    const options = { timeout: answerMilliseconds(MAX_MESSAGE_BYTES), noMux: true };
    const message = await this.#untilLost(this.#connection().request(subject, request, options));
    // The broker answers with a status instead of an operation.
    return (message.headers?.code ?? 0) === 0 ? new FetchedMessage(message) : null;
  }

  #jetstream() {
    return jetstream(this.#connection(), { timeout: REQUEST_MILLISECONDS });
  }

  async #manager(): Promise<JetStreamManager> {
    const connection = this.#connection();
    try {
      return await jetstreamManager(connection, { timeout: REQUEST_MILLISECONDS });
    } catch (error) {
      throw isAway(messageOf(error)) ? error : noJetStream(error);
    }
  }

  /** Returns the stream; null if there is none. @throws {BrokerError} if it is not as the fleet needs it */
  async #usableStream(manager: JetStreamManager) {
    // The broker may have other settings since the connection was lost.
    const trouble = payloadTrouble(this.#connection());
    if (trouble !== null) throw new BrokerError(trouble);
    const found = await manager.streams.info(this.#name).catch((error: unknown) => {
      if (error instanceof JetStreamApiError) return null;
      throw error;
    });
    if (found === null || found.config.storage === "memory") return found;
    throw new BrokerError(
      `the broker's stream ${this.#name} is stored in files, which must not hold audio; stop the broker, remove the folder of its JetStream (store_dir in nats.conf), and start it with the nats.conf of transcribe fleet init`,
    );
  }
}

function noJetStream(error: unknown): BrokerError {
  return new BrokerError(
    `the broker offers no JetStream (${messageOf(error)}); start it with the nats.conf of transcribe fleet init`,
  );
}

function clockOf(info: object): number | null {
  return "ts" in info && typeof info.ts === "string" ? Date.parse(info.ts) : null;
}
