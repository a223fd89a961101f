import type { Account, ApiKey } from "../accounts/index.ts";
import type { ErrorCode } from "./errors.ts";
import type { Client } from "./forwarded.ts";
import type { RateLimit } from "./rate-limits.ts";

/** Who makes a request: a key that is in force, and its account. */
export interface Caller {
  readonly key: ApiKey;
  readonly account: Account;
}

/** The connection on which a request came and its answer is sent. */
export interface Connection {
  /** Whether the answer is not sent to its end yet, and the client not known to be gone. */
  isOpen(): boolean;
  /** Ends the connection within seconds if its client does not read. */
  cut(): void;
}

/** What is known of a request beside the request itself. */
export interface RequestContext {
  /** The client's `X-Request-Id`, or ours. */
  readonly requestId: string;
  /** Where it comes from. */
  client: Client;
  /** Without a socket, as in some tests, an answer counts as sent at once. */
  connection: Connection;
  /** Where the client knows this server to be, e.g. `https://transcribe.example.org`; empty where there is no socket. */
  origin: string;
  /** What the request was refused with; null when it was not. */
  refusal: ErrorCode | null;
  /** Set once the request has shown a key that is in force. */
  caller: Caller | null;
  /** The limits that the request came under, for the answer's headers. */
  limits: readonly RateLimit[];
}

const contexts = new WeakMap<Request, RequestContext>();
/** What a client's `X-Request-Id` may be. */
export const requestIdShape = /^[A-Za-z0-9._:-]{1,128}$/;

/** The context of a request; made at the first call. */
export function contextOf(request: Request): RequestContext {
  const known = contexts.get(request);
  if (known !== undefined) return known;
  const sent = request.headers.get("x-request-id");
  const context: RequestContext = {
    requestId: sent !== null && requestIdShape.test(sent) ? sent : crypto.randomUUID(),
    client: { address: "", forwarded: false, scheme: null },
    connection: { isOpen: () => false, cut() {} },
    origin: "",
    refusal: null,
    caller: null,
    limits: [],
  };
  contexts.set(request, context);
  return context;
}

/** Makes a request that stands in for another one share its context. */
export function shareContext(request: Request, with_: Request): Request {
  contexts.set(request, contextOf(with_));
  return request;
}

/** The caller of a request that has passed `access`. */
export function callerOf(request: Request): Caller {
  const { caller } = contextOf(request);
  if (caller === null) throw new Error("a route under the base path was reached without a key");
  return caller;
}
