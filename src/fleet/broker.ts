import { type Msg, type NatsConnection, PermissionViolationError, RequestError } from "@nats-io/transport-node";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import {
  answerMilliseconds,
  BrokerError,
  type BrokerOptions,
  connectTo,
  RECONNECT_MILLISECONDS,
} from "./connection.ts";
import { LeaseStream } from "./lease-stream.ts";
import { poolOf } from "./machine-names.ts";
import { WorkStream } from "./work-stream.ts";

/** Handles a message and its subject; returns the reply, or null for none. */
type MessageHandler = (data: Uint8Array, subject: string) => Promise<Uint8Array | null> | Uint8Array | null;

/** A subject that this machine receives. */
interface Subscription {
  readonly subject: string;
  readonly handle: MessageHandler;
  /** Null: a refusal is a fault. */
  readonly onRefused: (() => void) | null;
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
  /** Subjects whose refusal is no fault. */
  readonly #refusable = new Set<string>();
  /** The work-queue stream of this machine's pool, or of the machines with certificates of their own. */
  readonly stream: WorkStream;
  /** Ends the requests whose answers are lost with the connection. */
  readonly #onLost = new Set<(error: Error) => void>();
  /** Null until the first connection. */
  #nats: NatsConnection | null = null;
  #connected = false;
  #closed = false;

  private constructor({ log, url, machine }: BrokerOptions) {
    this.#log = log;
    this.#url = url;
    this.stream = this.streamOf(poolOf(machine));
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

  /** Returns the work-queue stream of a pool. @param pool empty: of the machines with certificates of their own */
  streamOf(pool: string): WorkStream {
    return new WorkStream(
      pool,
      () => this.#required,
      (answer) => this.#untilLost(answer),
    );
  }

  /** Returns the stream with the coordinator's lease. */
  leaseStream(): LeaseStream {
    return new LeaseStream(
      () => {
        if (!this.#connected) throw awayError(this.#url);
        return this.#required;
      },
      (answer) => this.#untilLost(answer),
    );
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Calls a listener when the connection is lost and when it is back. */
  onChange(listener: (connected: boolean) => void): void {
    this.#listeners.add(listener);
  }

  publish(subject: string, message: Uint8Array): void {
    this.#nats?.publish(subject, message);
  }

  /**
   * Sends a request and returns the answer.
   * @throws {NobodyThereError} if no machine receives the subject
   * @throws {Error} if there is no answer, at once when the connection is lost
   */
  async request(subject: string, message: Uint8Array): Promise<Uint8Array> {
    const connection = this.#required;
    if (!this.#connected) throw awayError(this.#url);
    try {
      const timeout = answerMilliseconds(message.length);
      return (await this.#untilLost(connection.request(subject, message, { timeout }))).data;
    } catch (error) {
      if (error instanceof RequestError && error.isNoResponders()) throw new NobodyThereError("no machine answers");
      throw error;
    }
  }

  /**
   * Calls a function with every message of a subject, and with the message's own subject. Its result, if any, is the
   * reply.
   * @param onRefused called if the broker does not let this machine receive the subject; without it, the log has the fault
   */
  subscribe(subject: string, handle: MessageHandler, onRefused: (() => void) | null = null): void {
    if (onRefused !== null) this.#refusable.add(subject);
    this.#subscriptions.push({ subject, handle, onRefused });
    if (this.#nats !== null) this.#applySubscriptions(this.#nats);
  }

  /** Returns the round-trip time in milliseconds. */
  roundTrip(): Promise<number> {
    return this.#required.rtt();
  }

  async close(): Promise<void> {
    // A broker that is away must not delay the program's end.
    this.#closed = true;
    this.#connected = false;
    await Promise.race([this.#nats?.close(), Bun.sleep(1000)]);
  }

  /** @throws {Error} before the first connection */
  get #required(): NatsConnection {
    if (this.#nats === null) throw awayError(this.#url);
    return this.#nats;
  }

  /** Waits for an answer of the broker. @throws {Error} at once when the connection is lost */
  async #untilLost<T>(answer: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    this.#onLost.add(lost.reject);
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      this.#onLost.delete(lost.reject);
    }
  }

  #use(connection: NatsConnection): void {
    this.#nats = connection;
    this.#connected = true;
    this.#applySubscriptions(connection);
    void this.#watch(connection);
  }

  #applySubscriptions(connection: NatsConnection): void {
    for (const { subject, handle, onRefused } of this.#subscriptions.splice(0)) {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return onRefused?.();
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

  #isExpected(error: Error): boolean {
    return error instanceof PermissionViolationError && this.#refusable.has(error.subject);
  }

  #report(connected: boolean): void {
    const url = this.#url;
    if (connected) this.#log.info({ event: "fleet.broker_connected", url });
    else this.#log.error({ event: "fleet.broker_lost", url });
    if (!connected) for (const reject of this.#onLost) reject(awayError(url));
    for (const listener of this.#listeners) listener(connected);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect" || status.type === "reconnect") {
        const connected = status.type === "reconnect";
        if (connected === this.#connected) continue;
        this.#connected = connected;
        this.#report(connected);
      } else if (status.type === "error" && !this.#isExpected(status.error)) {
        this.#log.warn({ event: "fleet.broker_error", trouble: messageOf(status.error) });
      }
    }
  }
}

const awayError = (url: string) => new Error(`the broker ${url} is away`);
