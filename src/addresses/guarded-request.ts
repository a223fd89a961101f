import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import {
  type AddressGuard,
  blocked,
  forbiddenHost,
  guardedLookup,
  guardSocket,
  type ResolveHost,
} from "./address-guard.ts";
import { hostOf } from "./allow-list.ts";

/** A request to a host that a person has chosen. */
export interface GuardedRequest {
  readonly guard: AddressGuard;
  readonly resolve: ResolveHost;
  readonly userAgent: string;
  /** Certificate authorities in PEM that are trusted in addition to the public ones. */
  readonly authorities: readonly string[] | undefined;
  /** JSON that is sent with POST, and its headers. Without it, the request is a GET. */
  readonly message?: { readonly headers: Readonly<Record<string, string>>; readonly json: string };
  readonly signal: AbortSignal;
  /** Receives each stage that begins after the connection was opened. */
  readonly onStage?: (stage: "secure" | "answer" | "body") => void;
  /** Returns the error that the caller gets for another one. Default: the same error. */
  readonly toFault?: (error: Error) => Error;
}

/** The server changed the protocol, although the request asked for no upgrade. */
export class UpgradeError extends Error {
  override readonly name = "UpgradeError";
}

/**
 * Sends one request and resolves when the response's header has arrived, whatever the status. Follows no redirects, uses
 * no proxy from the environment, and has its own connection. Each address that the host resolves to is checked, and the
 * one that the socket has connected to. A connection error or an abort of the signal destroys the response even while
 * the caller reads it.
 * @throws {GuardError} when the guard forbids the host, or its name has no address
 * @throws {UpgradeError} when the server changes the protocol
 * @throws the signal's reason once it is aborted, and the errors of a connection
 */
export async function guardedRequest(url: URL, options: GuardedRequest): Promise<IncomingMessage> {
  const { guard, resolve, userAgent, authorities, message, signal, onStage, toFault = (error) => error } = options;
  const host = hostOf(url);
  const isSecure = url.protocol === "https:";
  const forbidden = forbiddenHost(guard, host);
  if (forbidden !== null) throw toFault(blocked(host, host, forbidden));
  signal.throwIfAborted();
  const content = message === undefined ? null : Buffer.from(message.json);
  return await new Promise<IncomingMessage>((fulfil, reject) => {
    let response: IncomingMessage | undefined;
    const fail = (error: Error) => {
      const fault = toFault(error);
      reject(fault);
      response?.destroy(fault);
      request.destroy(fault);
    };
    const request = (isSecure ? requestHttps : requestHttp)(url, {
      method: content === null ? "GET" : "POST",
      agent: false,
      lookup: guardedLookup(host, guard, resolve),
      headers: {
        ...message?.headers,
        ...(content === null ? {} : { "content-type": "application/json", "content-length": content.byteLength }),
        accept: "*/*",
        // Content that is never decompressed cannot be a decompression bomb.
        "accept-encoding": "identity",
        "user-agent": userAgent,
      },
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise disable the check.
      rejectUnauthorized: true,
      ...(authorities === undefined ? {} : { ca: [...rootCertificates, ...authorities] }),
    });
    const abort = () => fail(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
    // The look-up has already started, and the signal may have been aborted in the meantime.
    if (signal.aborted) abort();
    request.on("error", fail);
    request.on("close", () => reject(toFault(new Error("the connection was closed"))));
    request.on("socket", (socket: Socket) => {
      socket.once("connect", () => {
        if (socket.remoteAddress === undefined) fail(new Error("the connection was closed"));
        else onStage?.(isSecure ? "secure" : "answer");
      });
      if (isSecure) socket.once("secureConnect", () => onStage?.("answer"));
      guardSocket(socket, host, guard, fail);
    });
    // The request asked for no upgrade. After one, the request no longer handles the socket's errors.
    request.on("upgrade", (_response, socket) => {
      socket.on("error", () => {});
      fail(new UpgradeError(`${host} changed the protocol`));
    });
    request.on("response", (received) => {
      response = received;
      onStage?.("body");
      // The reader receives the error at its next read. This listener prevents an unhandled error between two reads.
      received.on("error", () => {});
      fulfil(received);
    });
    request.end(content ?? undefined);
  });
}
