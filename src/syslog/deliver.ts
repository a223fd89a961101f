import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { messageOf } from "../text/index.ts";
import type { SyslogTarget } from "./target.ts";

/** Milliseconds that the steps of a delivery may take. */
export interface DeliveryTimes {
  /** From the look-up of the host to the end of the TLS handshake. */
  readonly connect: number;
  /** For the acceptance of all messages by this machine's network. */
  readonly write: number;
  /** Time without an error after the last message, more than the round trip to any receiver. */
  readonly quiet: number;
  /** For the receiver to close the connection. */
  readonly close: number;
}

export const deliveryTimes: DeliveryTimes = { connect: 15_000, write: 30_000, quiet: 1_000, close: 15_000 };

/** Messages that may not have reached the receiver. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  /** Whether all messages were sent without an error, so that only the receiver's confirmation is missing. */
  readonly wasSent: boolean;

  constructor(message: string, wasSent: boolean) {
    super(message);
    this.wasSent = wasSent;
  }
}

/**
 * Sends messages on a connection of their own. Syslog has no answers, but closing a connection is one: we end our half
 * (RFC 5425, section 4.4), and the receiver closes its half after it has read everything. A receiver that exits before
 * causes an error, because TCP reports what was not read. One that closed the connection by itself, while messages were on
 * their way, is noticed in the quiet time before our end.
 * @throws {DeliveryError}
 * @throws the signal's reason once it is aborted
 */
export async function deliver(
  target: SyslogTarget,
  frames: readonly Uint8Array[],
  signal: AbortSignal,
  times: DeliveryTimes = deliveryTimes,
): Promise<void> {
  signal.throwIfAborted();
  const { host, port, authorities, own } = target;
  let isEnding = false;
  const failed = Promise.withResolvers<never>();
  const closed = Promise.withResolvers<void>();
  const abort = () => failed.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  // The promise may be rejected after the last race.
  failed.promise.catch(() => {});
  const within = async <T>(milliseconds: number, trouble: string, step: Promise<T>): Promise<T> => {
    const timer = new AbortController();
    const late = sleep(milliseconds, undefined, { signal: timer.signal }).then(() => {
      throw new Error(trouble);
    });
    late.catch(() => {});
    return await Promise.race([failed.promise, step, late]).finally(() => timer.abort());
  };
  let socket: TLSSocket | undefined;
  try {
    const opened = connect({
      host,
      port,
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise disable the check.
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(authorities === null ? {} : { ca: authorities }),
      ...(own === null ? {} : { cert: own.certificate, key: own.key }),
    });
    socket = opened;
    opened.on("error", failed.reject);
    // Receivers send nothing; whatever comes is dropped.
    opened.resume();
    opened.on("end", () => isEnding || failed.reject(new Error("the receiver closed the connection")));
    opened.on("close", () => (isEnding ? closed.resolve() : failed.reject(new Error("the connection was closed"))));
    const secure = new Promise<void>((resolve) => opened.once("secureConnect", resolve));
    await within(times.connect, `no TLS connection within ${times.connect / 1000} s`, secure);
    if (frames.length > 0) {
      const written = new Promise<void>((resolve) => opened.write(Buffer.concat(frames), () => resolve()));
      await within(times.write, `the receiver took nothing for ${times.write / 1000} s`, written);
    }
    await Promise.race([failed.promise, sleep(times.quiet, undefined, { signal })]);
    isEnding = true;
    opened.end();
    await within(
      times.close,
      `the receiver did not close the connection within ${times.close / 1000} s`,
      closed.promise,
    );
  } catch (error) {
    signal.throwIfAborted();
    throw new DeliveryError(messageOf(error), isEnding);
  } finally {
    signal.removeEventListener("abort", abort);
    socket?.destroy();
  }
}
