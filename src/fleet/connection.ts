import { type ConnectionOptions, connect, type NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../telemetry/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";
import { connectionTrouble, credentialsTrouble, isAway } from "./check-credentials.ts";
import { MAX_MESSAGE_BYTES } from "./messages.ts";

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

/** Pause between two attempts to connect. */
export const RECONNECT_MILLISECONDS = 1000;

/**
 * Time for an attempt to connect. The system repeats a lost attempt late, so a new one is better. After partitions of 20 to
 * 33 s a machine is connected again within a second; with 20 s a worker's next part took up to 29 s.
 */
const CONNECT_MILLISECONDS = 5000;

/** A connection without answers counts as lost after this time. On a slow network an answer waits behind large parts. */
export const REQUEST_MILLISECONDS = 15_000;
/** Slowest network that is used, in bytes a millisecond: 0.5 Mbit/s, less than real time needs. */
const SLOWEST_BYTES_PER_MILLISECOND = 64;

/** A fault of the broker or of the connection that a person has to mend. */
export class BrokerError extends ExpectedError {
  override readonly name = "BrokerError";

  constructor(
    message: string,
    /** Whether the broker may answer later without a change of this machine's settings. */
    readonly isAway = false,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Connects to the broker. @throws {BrokerError} which says what to do */
export async function connectTo({ url, ca, certificate, key, machine }: BrokerOptions): Promise<NatsConnection> {
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
    // A broker that restarts with a wrong nats.conf for a moment must not end the connection for good.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_MILLISECONDS,
    timeout: CONNECT_MILLISECONDS,
    pingInterval: 5000,
    maxPingOut: 2,
    ...(tls ? { tls: { caFile: ca, certFile: certificate, keyFile: key } } : {}),
  };
  let connection: NatsConnection;
  try {
    connection = await connect(options);
  } catch (error) {
    const message = messageOf(error);
    throw new BrokerError(connectionTrouble(url, message), isAway(message), { cause: error });
  }
  const unusable = payloadTrouble(connection);
  if (unusable === null) return connection;
  await connection.close();
  throw new BrokerError(unusable);
}

/** Returns why a broker's messages are too small, and what to do; null if they are not. */
export function payloadTrouble({ info }: NatsConnection): string | null {
  const limit = info?.max_payload ?? 0;
  if (limit >= MAX_MESSAGE_BYTES) return null;
  return `the broker takes messages of at most ${limit} bytes; set max_payload = ${MAX_MESSAGE_BYTES} in nats.conf and reload the broker`;
}

function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

/** Returns the time after which a message counts as unanswered. A large one takes seconds on a slow network. */
export function answerMilliseconds(bytes: number): number {
  return REQUEST_MILLISECONDS + bytes / SLOWEST_BYTES_PER_MILLISECOND;
}
