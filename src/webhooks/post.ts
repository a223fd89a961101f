import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import {
  type AllowList,
  addressGuard,
  forbiddenHost,
  GuardError,
  guardedLookup,
  guardSocket,
  hostOf,
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

/** How messages are sent. */
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
  signal.throwIfAborted();
  const startedAt = performance.now();
  const milliseconds = () => Math.round(performance.now() - startedAt);
  try {
    const response = await send(url, body, headers, options, signal);
    const status = response.statusCode ?? 0;
    const retryAfter = parseRetryAfter(response.headers["retry-after"], options.now());
    discard(response);
    return { status, fault: faultOfStatus(status), milliseconds: milliseconds(), retryAfter };
  } catch (error) {
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

function send(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  { allow, userAgent, timeoutMilliseconds = TIMEOUT_MILLISECONDS, authorities, resolve = resolveHost }: PostOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = hostOf(url);
  const isSecure = url.protocol === "https:";
  const guard = (isSecure ? addressGuard : listedGuard)(allow, ownAddresses());
  const forbidden = forbiddenHost(guard, host);
  if (forbidden !== null) return Promise.reject(new GuardError("blocked", `${host} is at a ${forbidden} address`));
  return new Promise<IncomingMessage>((fulfil, reject) => {
    let response: IncomingMessage | undefined;
    const content = Buffer.from(body);
    const request = (isSecure ? requestHttps : requestHttp)(url, {
      method: "POST",
      agent: false,
      lookup: guardedLookup(host, guard, resolve),
      headers: {
        ...headers,
        "content-type": "application/json",
        "content-length": content.byteLength,
        "user-agent": userAgent,
        accept: "*/*",
        "accept-encoding": "identity",
      },
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise disable the check.
      rejectUnauthorized: true,
      ...(authorities === undefined ? {} : { ca: [...rootCertificates, ...authorities] }),
    });
    const end = (error: Error) => {
      reject(error);
      response?.destroy();
      request.destroy(error);
    };
    // It also ends an answer whose body never ends.
    const timer = setTimeout(() => end(new Timeout("too slow")), timeoutMilliseconds);
    const abort = () => end(new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
    request.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      reject(new Error("the connection was closed"));
    });
    request.on("error", end);
    request.on("socket", (socket: Socket) => guardSocket(socket, host, guard, end));
    request.on("upgrade", (_response, socket) => {
      socket.on("error", () => {});
      end(new Error("the receiver changed the protocol"));
    });
    request.on("response", (received) => {
      response = received;
      received.on("error", () => {});
      fulfil(received);
    });
    request.end(content);
  });
}

/** Reads and discards the beginning of a body, and then closes the connection. */
function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
}
