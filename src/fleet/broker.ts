import {
  type Consumer,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import { type Msg, type NatsConnection, nanos, RequestError } from "@nats-io/transport-node";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { BrokerError, type BrokerOptions, connectTo, payloadTrouble, RECONNECT_MILLISECONDS } from "./connection.ts";
import { consumerOf, STREAM, STREAM_BYTES, subjects } from "./messages.ts";

/** Time without a beat after which the broker delivers an operation to another worker. */
const ACK_WAIT_MILLISECONDS = 10_000;
/** A connection without answers counts as lost after this time. On a slow network an answer waits behind large parts. */
const REQUEST_MILLISECONDS = 15_000;
/** Slowest network that is used, in bytes a millisecond: 0.5 Mbit/s, less than real time needs. */
const SLOWEST_BYTES_PER_MILLISECOND = 64;

/** A broker's report about a stream or a consumer. */
export interface BrokerReport {
  readonly storage: "memory" | "file";
  /** Operations that no worker has completed. */
  readonly messages: number;
  /** The broker's clock, in milliseconds since 1970; null before nats-server 2.10. */
  readonly clock: number | null;
}

/** Handles a message and its subject; returns the reply, or null for none. */
type MessageHandler = (data: Uint8Array, subject: string) => Promise<Uint8Array | null> | Uint8Array | null;

/** A subject that this machine receives. */
interface Subscription {
  readonly subject: string;
  readonly handle: MessageHandler;
  readonly onRefused: () => void;
}

/** No machine receives the subject of a request. */
export class NobodyThereError extends Error {
  override readonly name = "NobodyThereError";
}

/** The connection to the broker. It reconnects by itself, for as long as the program runs. */
export class Broker {
  readonly #log: Logger;
  readonly #url: string;
  readonly #listeners = new Set<(connected: boolean) => void>();
  /** Subscriptions that wait for the first connection. */
  readonly #subscriptions: Subscription[] = [];
  /** Ends the requests whose answers are lost with the connection. */
  readonly #onLost = new Set<(error: Error) => void>();
  /** Null until the first connection. */
  #nats: { readonly connection: NatsConnection; readonly jetstream: JetStreamClient } | null = null;
  #connected = false;
  #closed = false;

  private constructor({ log, url }: BrokerOptions) {
    this.#log = log;
    this.#url = url;
  }

  /** @throws {BrokerError} which says what to do */
  static async connect(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options);
    broker.#use(await connectTo(options));
    return broker;
  }

  /**
   * Connects to the broker, or returns at once and connects as soon as the broker answers.
   * @throws {BrokerError} if a person has to mend something else
   */
  static async connectOrWait(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options);
    try {
      broker.#use(await connectTo(options));
    } catch (error) {
      if (!(error instanceof BrokerError && error.isAway)) throw error;
      options.log.error({ event: "fleet.broker_lost", url: options.url, trouble: error.message });
      void broker.#keepConnecting(options);
    }
    return broker;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Calls a listener when the connection is lost and when it is back. */
  onChange(listener: (connected: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Creates the stream and empties it: nothing in it outlives the coordinator's connection. Only the coordinator may.
   * @throws {BrokerError} if the broker offers no JetStream, stores the stream on disk, or takes small messages only
   */
  async resetStream(): Promise<void> {
    const manager = await this.#manager();
    const config = {
      name: STREAM,
      subjects: [subjects.allWork],
      retention: "workqueue",
      storage: "memory",
      discard: "new",
      max_bytes: STREAM_BYTES,
      num_replicas: 1,
    } satisfies Parameters<JetStreamManager["streams"]["add"]>[0];
    const found = await this.#usableStream(manager);
    // A new stream has no consumers of an earlier build.
    if (found !== null) await manager.streams.delete(STREAM);
    await manager.streams.add(config);
  }

  /**
   * Returns the broker's report about the stream, which only the coordinator may read; null if there is no stream.
   * @throws {BrokerError} if the coordinator cannot use the broker
   */
  async streamReport(): Promise<BrokerReport | null> {
    const info = await this.#usableStream(await this.#manager());
    return info === null ? null : { storage: info.config.storage, messages: info.state.messages, clock: clockOf(info) };
  }

  /** Returns the broker's report about the workers' shared consumer; null if the coordinator has not created it. */
  async consumerReport(build: string, model: string): Promise<BrokerReport | null> {
    const info = await (await this.consumer(build, model))?.info(true);
    if (info === undefined) return null;
    const storage = info.config.mem_storage === true ? "memory" : "file";
    return { storage, messages: info.num_pending + info.num_ack_pending, clock: clockOf(info) };
  }

  /** Ensures that the workers' shared consumer for a subject exists. */
  async ensureConsumer(build: string, model: string): Promise<void> {
    const manager = await this.#manager();
    await manager.consumers.add(STREAM, {
      durable_name: consumerOf(build, model),
      filter_subject: subjects.work(build, model),
      ack_policy: "explicit",
      ack_wait: nanos(ACK_WAIT_MILLISECONDS),
      max_deliver: -1,
      max_ack_pending: 10_000,
      mem_storage: true,
    });
  }

  async publishWork(subject: string, id: string, message: Uint8Array): Promise<void> {
    await this.#required.jetstream.publish(subject, message, { msgID: id, timeout: answerMilliseconds(message) });
  }

  /** Returns the workers' shared consumer; null if the coordinator has not created it. */
  async consumer(build: string, model: string): Promise<Consumer | null> {
    try {
      return await this.#required.jetstream.consumers.get(STREAM, consumerOf(build, model));
    } catch (error) {
      if (error instanceof JetStreamApiError) return null;
      // The library does not export this class.
      const isDisabled = error instanceof Error && error.name === "JetStreamNotEnabled";
      throw isDisabled ? noJetStream(error) : error;
    }
  }

  publish(subject: string, message: Uint8Array): void {
    this.#nats?.connection.publish(subject, message);
  }

  /**
   * Sends a request and returns the answer.
   * @throws {NobodyThereError} if no machine receives the subject
   * @throws {Error} if there is no answer, at once when the connection is lost
   */
  async request(subject: string, message: Uint8Array): Promise<Uint8Array> {
    const { connection } = this.#required;
    if (!this.#connected) throw awayError(this.#url);
    const lost = Promise.withResolvers<never>();
    this.#onLost.add(lost.reject);
    try {
      const answer = connection.request(subject, message, { timeout: answerMilliseconds(message) });
      return (await Promise.race([answer, lost.promise])).data;
    } catch (error) {
      if (error instanceof RequestError && error.isNoResponders()) throw new NobodyThereError("no machine answers");
      throw error;
    } finally {
      this.#onLost.delete(lost.reject);
    }
  }

  /**
   * Calls a function with every message of a subject, and with the message's own subject. Its result, if any, is the
   * reply.
   * @param onRefused called if the broker does not let this machine receive the subject
   */
  subscribe(subject: string, handle: MessageHandler, onRefused: () => void = () => {}): void {
    this.#subscriptions.push({ subject, handle, onRefused });
    if (this.#nats !== null) this.#applySubscriptions(this.#nats.connection);
  }

  /** Returns the round-trip time in milliseconds. */
  roundTrip(): Promise<number> {
    return this.#required.connection.rtt();
  }

  async close(): Promise<void> {
    // A broker that is away must not delay the program's end.
    this.#closed = true;
    this.#connected = false;
    await Promise.race([this.#nats?.connection.close(), Bun.sleep(1000)]);
  }

  /** @throws {Error} before the first connection */
  get #required() {
    if (this.#nats === null) throw awayError(this.#url);
    return this.#nats;
  }

  #use(connection: NatsConnection): void {
    this.#nats = { connection, jetstream: jetstream(connection, { timeout: REQUEST_MILLISECONDS }) };
    this.#connected = true;
    this.#applySubscriptions(connection);
    void this.#watch(connection);
  }

  #applySubscriptions(connection: NatsConnection): void {
    for (const { subject, handle, onRefused } of this.#subscriptions.splice(0)) {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return onRefused();
          void this.#answer(message, handle);
        },
      });
    }
  }

  /** A fault of one message must not end the program. */
  async #answer(message: Msg, handle: MessageHandler): Promise<void> {
    try {
      const reply = await handle(message.data, message.subject);
      if (reply !== null) message.respond(reply);
    } catch (error) {
      this.#log.error({ event: "fleet.answer_failed", trouble: messageOf(error) });
    }
  }

  async #keepConnecting(options: BrokerOptions): Promise<void> {
    let trouble = "";
    while (!this.#closed) {
      await Bun.sleep(RECONNECT_MILLISECONDS);
      try {
        const connection = await connectTo(options);
        if (this.#closed) return await connection.close();
        this.#use(connection);
        return this.#report(true);
      } catch (error) {
        // A fault that was not there at the start, e.g. a broker of another fleet, may go away as well.
        if (messageOf(error) !== trouble) this.#log.warn({ event: "fleet.broker_error", trouble: messageOf(error) });
        trouble = messageOf(error);
      }
    }
  }

  #report(connected: boolean): void {
    const url = this.#url;
    if (connected) this.#log.info({ event: "fleet.broker_connected", url });
    else this.#log.error({ event: "fleet.broker_lost", url });
    if (!connected) for (const reject of this.#onLost) reject(awayError(url));
    for (const listener of this.#listeners) listener(connected);
  }

  async #manager(): Promise<JetStreamManager> {
    try {
      return await jetstreamManager(this.#required.connection, { timeout: REQUEST_MILLISECONDS });
    } catch (error) {
      throw noJetStream(error);
    }
  }

  /** Returns the stream; null if there is none. @throws {BrokerError} if it is not as the fleet needs it */
  async #usableStream(manager: JetStreamManager) {
    // The broker may have other settings since the connection was lost.
    const trouble = payloadTrouble(this.#required.connection);
    if (trouble !== null) throw new BrokerError(trouble);
    const found = await streamInfo(manager);
    if (found === null || found.config.storage === "memory") return found;
    throw new BrokerError(
      `the broker's stream ${STREAM} is stored in files, which must not hold audio; stop the broker, remove the folder of its JetStream (store_dir in nats.conf), and start it with the nats.conf of transcribe fleet init`,
    );
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect" || status.type === "reconnect") {
        const connected = status.type === "reconnect";
        if (connected === this.#connected) continue;
        this.#connected = connected;
        this.#report(connected);
      } else if (status.type === "error") {
        this.#log.warn({ event: "fleet.broker_error", trouble: messageOf(status.error) });
      }
    }
  }
}

/** Returns the time after which a message counts as unanswered. A large one takes seconds on a slow network. */
function answerMilliseconds(message: Uint8Array): number {
  return REQUEST_MILLISECONDS + message.length / SLOWEST_BYTES_PER_MILLISECOND;
}

/** Returns the stream; null if there is none. @throws {Error} if the broker does not answer */
async function streamInfo(manager: JetStreamManager) {
  return await manager.streams.info(STREAM).catch((error: unknown) => {
    if (error instanceof JetStreamApiError) return null;
    throw error;
  });
}

function noJetStream(error: unknown): BrokerError {
  return new BrokerError(
    `the broker offers no JetStream (${messageOf(error)}); start it with the nats.conf of transcribe fleet init`,
  );
}

const awayError = (url: string) => new Error(`the broker ${url} is away`);

function clockOf(info: object): number | null {
  return "ts" in info && typeof info.ts === "string" ? Date.parse(info.ts) : null;
}
