import {
  type Consumer,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  nanos,
  type Subscription,
} from "@nats-io/transport-node";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { connectionTrouble, credentialsTrouble } from "./check-credentials.ts";
import { consumerOf, MAX_MESSAGE_BYTES, STREAM, STREAM_BYTES, subjects } from "./messages.ts";

/** How a machine reaches the broker. */
export interface BrokerOptions {
  /** e.g. `tls://10.0.0.5:4222` */
  readonly url: string;
  /** Paths of the fleet's CA, and of this machine's certificate and key; all empty without TLS, on loopback only. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** This machine's name; it is the prefix of its inbox. */
  readonly machine: string;
  readonly log: Logger;
}

/** Time without a beat after which the broker delivers an operation to another worker. */
const ACK_WAIT_MILLISECONDS = 10_000;
const RECONNECT_MILLISECONDS = 1000;
const REQUEST_MILLISECONDS = 5000;

/** Handles a message and its subject; returns the reply, or null for none. */
type MessageHandler = (data: Uint8Array, subject: string) => Promise<Uint8Array | null> | Uint8Array | null;

/** A broker's report about a stream or a consumer. */
export interface BrokerReport {
  readonly storage: "memory" | "file";
  /** The broker's clock, in milliseconds since 1970; null before nats-server 2.10. */
  readonly clock: number | null;
}

/** A fault of the broker or of the connection that a person has to mend. */
export class BrokerError extends Error {
  override readonly name = "BrokerError";
}

/** The connection to the broker. It reconnects by itself, for as long as the program runs. */
export class Broker {
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #log: Logger;
  readonly #listeners = new Set<(connected: boolean) => void>();
  #connected = true;

  private constructor(connection: NatsConnection, log: Logger, url: string) {
    this.#connection = connection;
    this.#log = log;
    this.#jetstream = jetstream(connection, { timeout: REQUEST_MILLISECONDS });
    void this.#watch(url);
  }

  /** @throws {BrokerError} which says what to do */
  static async connect({ url, ca, certificate, key, machine, log }: BrokerOptions): Promise<Broker> {
    const tls = ca !== "" || certificate !== "" || key !== "";
    const trouble = tls ? credentialsTrouble({ ca, certificate, key, machine }, Date.now()) : null;
    if (trouble !== null) throw new BrokerError(trouble);
    if (!tls && !isLoopback(url)) {
      throw new BrokerError(`without certificates only a broker on this machine may be used, not ${url}`);
    }
    const options: ConnectionOptions = {
      servers: url,
      name: machine,
      inboxPrefix: `_INBOX.${machine}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MILLISECONDS,
      pingInterval: 5000,
      maxPingOut: 2,
      ...(tls ? { tls: { caFile: ca, certFile: certificate, keyFile: key } } : {}),
    };
    let connection: NatsConnection;
    try {
      connection = await connect(options);
    } catch (error) {
      throw new BrokerError(connectionTrouble(url, messageOf(error)), { cause: error });
    }
    const limit = connection.info?.max_payload ?? 0;
    if (limit < MAX_MESSAGE_BYTES) {
      await connection.close();
      throw new BrokerError(
        `the broker takes messages of at most ${limit} bytes; set max_payload = ${MAX_MESSAGE_BYTES} in nats.conf`,
      );
    }
    return new Broker(connection, log, url);
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
   * @throws {BrokerError} if the broker offers no JetStream, or stores the stream on disk
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
    const found = await streamInfo(manager);
    if (found !== null && found.config.storage !== "memory") {
      throw new BrokerError(
        `the broker's stream ${STREAM} is stored in files, which must not hold audio; remove it: nats stream rm ${STREAM}`,
      );
    }
    // A new stream has no consumers of an earlier build.
    if (found !== null) await manager.streams.delete(STREAM);
    await manager.streams.add(config);
  }

  /** Returns the broker's report about the stream, which only the coordinator may read; null if there is no stream. */
  async streamReport(): Promise<BrokerReport | null> {
    const info = await streamInfo(await this.#manager());
    return info === null ? null : { storage: info.config.storage, clock: clockOf(info) };
  }

  /** Returns the broker's report about the workers' shared consumer; null if the coordinator has not created it. */
  async consumerReport(build: string, model: string): Promise<BrokerReport | null> {
    const info = await (await this.consumer(build, model))?.info(true);
    return info === undefined
      ? null
      : { storage: info.config.mem_storage === true ? "memory" : "file", clock: clockOf(info) };
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
    await this.#jetstream.publish(subject, message, { msgID: id, timeout: REQUEST_MILLISECONDS });
  }

  /** Returns the workers' shared consumer; null if the coordinator has not created it. */
  async consumer(build: string, model: string): Promise<Consumer | null> {
    try {
      return await this.#jetstream.consumers.get(STREAM, consumerOf(build, model));
    } catch (error) {
      if (error instanceof JetStreamApiError) return null;
      throw error;
    }
  }

  publish(subject: string, message: Uint8Array): void {
    this.#connection.publish(subject, message);
  }

  async request(subject: string, message: Uint8Array): Promise<Uint8Array> {
    return (await this.#connection.request(subject, message, { timeout: REQUEST_MILLISECONDS })).data;
  }

  /**
   * Calls a function with every message of a subject, and with the message's own subject. Its result, if any, is the
   * reply.
   * @param onRefused called if the broker does not let this machine receive the subject
   */
  subscribe(subject: string, handle: MessageHandler, onRefused: () => void = () => {}): Subscription {
    return this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return onRefused();
        void this.#answer(message, handle);
      },
    });
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

  /** Returns the round-trip time in milliseconds. */
  roundTrip(): Promise<number> {
    return this.#connection.rtt();
  }

  async close(): Promise<void> {
    // A broker that is away must not delay the program's end.
    await Promise.race([this.#connection.close(), Bun.sleep(1000)]);
  }

  async #manager(): Promise<JetStreamManager> {
    try {
      return await jetstreamManager(this.#connection, { timeout: REQUEST_MILLISECONDS });
    } catch (error) {
      throw new BrokerError(`the broker offers no JetStream; add a jetstream block to nats.conf: ${messageOf(error)}`);
    }
  }

  async #watch(url: string): Promise<void> {
    const log = this.#log;
    for await (const status of this.#connection.status()) {
      if (status.type === "disconnect" || status.type === "reconnect") {
        const connected = status.type === "reconnect";
        if (connected === this.#connected) continue;
        this.#connected = connected;
        if (connected) log.info({ event: "fleet.broker_connected", url });
        else log.error({ event: "fleet.broker_lost", url });
        for (const listener of this.#listeners) listener(connected);
      } else if (status.type === "error") log.warn({ event: "fleet.broker_error", trouble: messageOf(status.error) });
    }
  }
}

/** Returns the stream; null if there is none. @throws {Error} if the broker does not answer */
async function streamInfo(manager: JetStreamManager) {
  return await manager.streams.info(STREAM).catch((error: unknown) => {
    if (error instanceof JetStreamApiError) return null;
    throw error;
  });
}

function clockOf(info: object): number | null {
  return "ts" in info && typeof info.ts === "string" ? Date.parse(info.ts) : null;
}

function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
