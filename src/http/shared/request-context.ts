import type { Account } from "../../accounts/index.ts";
import type { ApiKey } from "../../keys/index.ts";
import type { Reader } from "../../library/index.ts";
import type { Client } from "./client.ts";
import type { ClientSecret } from "./client-secrets.ts";
import type { ErrorCode } from "./errors.ts";
import type { RateLimit } from "./rate-limits.ts";
import type { SocketHandler } from "./sockets.ts";

/** The sender of a request: an active key and its account. */
export interface Caller {
  readonly key: ApiKey;
  readonly account: Account;
}

/** The connection of a request and its answer. */
export interface Connection {
  /** Returns whether the answer is not yet sent completely and the client is not known to have disconnected. */
  isOpen(): boolean;
  /** Ends the connection within seconds if its client does not read. */
  cut(): void;
}

/** Data about a request that the Request object does not hold. */
export interface RequestContext {
  /** The client's `X-Request-Id` if it has the allowed form, otherwise a generated UUID. */
  readonly requestId: string;
  /** The client that sent the request. */
  client: Client;
  /**
   * Connection of the request. Without a socket, as in some tests, isOpen() is false, so an answer counts as sent at
   * once.
   */
  connection: Connection;
  /**
   * Base URL under which the client reaches this server, e.g. `https://transcribe.example.org`; empty without a socket.
   */
  origin: string;
  /** Error code with which the request was refused; null if it was not. */
  refusal: ErrorCode | null;
  /** Set once the request is authenticated by an active key. */
  caller: Caller | null;
  /** Client secret by which the request has its key; null for others. */
  clientSecret: ClientSecret | null;
  /** Account of a request without a key, from a network that needs none; null for others. */
  keylessAccount: Account | null;
  /** Id of the session of a person who is signed in to the console; null for others. */
  session: string | null;
  /** Bytes of the answer that are held in memory until the client has read them; 0 for a file and a stream. */
  heldBytes: number;
  /** The limits applied to the request, for the answer's headers. */
  limits: readonly RateLimit[];
  /** Handler of the WebSocket that the request's route accepted; null for none. */
  socket: SocketHandler | null;
}

const contexts = new WeakMap<Request, RequestContext>();
/** Allowed form of a client's `X-Request-Id`. */
export const requestIdShape = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the context of a request. The first call creates it. */
export function contextOf(request: Request): RequestContext {
  const known = contexts.get(request);
  if (known !== undefined) return known;
  const sent = request.headers.get("x-request-id");
  const context: RequestContext = {
    requestId: sent !== null && requestIdShape.test(sent) ? sent : crypto.randomUUID(),
    client: { address: "", addressGroup: "", isLocal: false, isSender: false, scheme: null },
    connection: { isOpen: () => false, cut() {} },
    origin: "",
    refusal: null,
    caller: null,
    clientSecret: null,
    keylessAccount: null,
    session: null,
    heldBytes: 0,
    limits: [],
    socket: null,
  };
  contexts.set(request, context);
  return context;
}

/** Makes a request that replaces `original` share its context, and returns the request. */
export function shareContext(request: Request, original: Request): Request {
  contexts.set(request, contextOf(original));
  return request;
}

/** Records that the body of a request's answer is held in memory, and returns the body. */
export function heldBody<Body extends string | Uint8Array>(request: Request, body: Body): Body {
  contextOf(request).heldBytes = Buffer.byteLength(body);
  return body;
}

/** Returns the owner of an answer: an account, a session of the console, or the address of anybody else. */
export function ownerOf(request: Request): string {
  const { caller, keylessAccount, session, client } = contextOf(request);
  return caller?.account.id ?? keylessAccount?.id ?? session ?? client.addressGroup;
}

/** Returns who reads a transcript by a request: its key, or its address if it needs none. */
export function readerOf(request: Request, surface: Reader["surface"]): Reader {
  const { caller, client } = contextOf(request);
  return { actor: caller?.key.id ?? `address:${client.address}`, surface };
}

/** Returns the caller of a request that has passed accessCheck. */
export function callerOf(request: Request): Caller {
  const { caller } = contextOf(request);
  if (caller === null) throw new Error("a route under the base path was reached without a key");
  return caller;
}
