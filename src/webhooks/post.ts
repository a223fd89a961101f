import type { IncomingMessage } from "node:http";
import {
  type AllowList,
  addressGuard,
  GuardError,
  guardedRequest,
  listedGuard,
  ownAddresses,
  type ResolveHost,
  resolveHost,
} from "../addresses/index.ts";
import type { values } from "../database/index.ts";
import { codeOf } from "../text/index.ts";
import { parseRetryAfter } from "./waits.ts";

type Fault = (typeof values.deliveryFaults)[number];

/** The result of an attempt to send a message. */
export interface Attempt {
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  /** Null if the receiver has accepted the message. */
  readonly fault: Fault | null;
  readonly milliseconds: number;
  /** Milliseconds that the receiver asks to wait; null if it asks for none. */
  readonly retryAfter: number | null;
}

/** Options for sending messages. */
export interface PostOptions {
  /** Non-public hosts and networks. Only these may be reached by http. */
  readonly allow: AllowList;
  readonly userAgent: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Maximum milliseconds of an attempt, from the look-up of the name to the status of the answer. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Certificate authorities in PEM that are trusted in addition to the public ones. */
  readonly authorities?: readonly string[] | undefined;
  /** Returns all addresses of a host. Default: the system's name resolution. */
  readonly resolve?: ResolveHost | undefined;
}

const TIMEOUT_MILLISECONDS = 10_000;
/** Bytes of an answer's body that are read, and discarded, so that most receivers can finish their answers. */
const MAX_ANSWER_BYTES = 1024;

class Timeout extends Error {}

/**
 * Sends a message with POST. Follows no redirects, uses no proxy, and connects only to public addresses and to those that
 * `allow` permits: each address that the host resolves to is checked, and the one that the socket has connected to.
 * @throws the signal's reason once it is aborted
 */
export async function post(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: PostOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  const { allow, userAgent, now, timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options;
  const { authorities, resolve = resolveHost } = options;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const milliseconds = () => Math.round(performance.now() - startedAt);
  const ending = new AbortController();
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  // It also ends an answer whose body never ends.
  const timer = setTimeout(() => ending.abort(new Timeout("too slow")), timeoutMilliseconds);
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  };
  try {
    const guard = (url.protocol === "https:" ? addressGuard : listedGuard)(allow, ownAddresses());
    const message = { headers, json: body };
    const request = { guard, resolve, userAgent, authorities, message, signal: ending.signal };
    const response = await guardedRequest(url, request);
    response.once("close", release);
    const status = response.statusCode ?? 0;
    const retryAfter = parseRetryAfter(response.headers["retry-after"], now());
    discard(response);
    return { status, fault: faultOfStatus(status), milliseconds: milliseconds(), retryAfter };
  } catch (error) {
    release();
    signal.throwIfAborted();
    return { status: null, fault: faultOf(error), milliseconds: milliseconds(), retryAfter: null };
  }
}

function faultOfStatus(status: number): Fault | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirected" : "refused";
}

function faultOf(error: unknown): Fault {
  if (error instanceof GuardError) return error.fault;
  if (error instanceof Timeout) return "timed_out";
  return /CERT|TLS|SSL|SELF_SIGNED|VERIFY|ISSUER/.test(codeOf(error)) ? "insecure" : "unreachable";
}

/** Reads and discards the beginning of a body, and then closes the connection. */
function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
}
