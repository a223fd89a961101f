import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { MediaError, type MediaFault } from "../media-error.ts";
import { type AddressGuard, blocked, forbiddenHost, guardedLookup, type ResolveHost } from "./address-guard.ts";
import { hostOf } from "./allow-list.ts";
import type { FetchStage, TimeLimits } from "./time-limits.ts";

/** Settings that all requests of one fetch share. */
export interface RequestOptions {
  readonly guard: AddressGuard;
  readonly resolve: ResolveHost;
  readonly limits: TimeLimits;
  readonly userAgent: string;
  /** Certificate authorities in PEM that are trusted in addition to the public ones. */
  readonly authorities: readonly string[] | undefined;
}

/** Fault that a connection error means in each stage. A response that is not HTTP is detected separately, see faultOf. */
const FAILED: Record<FetchStage, MediaFault> = {
  resolve: "fetch_dns_failed",
  connect: "fetch_connect_failed",
  secure: "fetch_tls_failed",
  answer: "fetch_interrupted",
  body: "fetch_interrupted",
};

/**
 * Sends one GET and resolves when the response's header has arrived, whatever the status. Every request has its own
 * connection and uses no proxy from the environment. The caller reads the body or destroys the response. A connection
 * error or an abort of `limits.signal` destroys the response even while the caller reads it. If the signal is aborted,
 * its reason is the cause.
 *
 * @throws {MediaError} when the request fails
 * @throws any error once `limits.signal` is aborted
 */
export async function openResponse(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const { guard, limits } = options;
  const host = hostOf(url);
  const forbidden = forbiddenHost(guard, host);
  if (forbidden !== null) throw blocked(host, host, forbidden);
  limits.signal.throwIfAborted();
  limits.enter(isIP(host) === 0 ? "resolve" : "connect");
  const resolveHost: ResolveHost = async (name) => {
    const addresses = await options.resolve(name);
    limits.enter("connect");
    return addresses;
  };

  return await new Promise<IncomingMessage>((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const fail = (error: Error) => {
      reject(error);
      response?.destroy(error);
      request.destroy(error);
    };
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      agent: false,
      lookup: guardedLookup(host, guard, resolveHost),
      headers: {
        accept: "*/*",
        // Compression does not make recordings smaller, and content that is never decompressed cannot be a
        // decompression bomb.
        "accept-encoding": "identity",
        "user-agent": options.userAgent,
      },
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise disable the check.
      rejectUnauthorized: true,
      ...(options.authorities === undefined ? {} : { ca: [...rootCertificates, ...options.authorities] }),
    });
    const abort = () => fail(new Error("aborted"));
    limits.signal.addEventListener("abort", abort, { once: true });
    // The look-up has already started, and the signal may have been aborted in the meantime.
    if (limits.signal.aborted) abort();
    request.on("error", (error) => fail(faultOf(error, host, limits.stage)));
    request.on("socket", (socket: Socket) => {
      followStages(socket, url, limits);
      // The guard is part of the look-up. This check detects a runtime that bypasses the look-up, before a byte is
      // read.
      socket.once("connect", () => {
        const address = socket.remoteAddress;
        if (address === undefined) return fail(new MediaError("fetch_connect_failed", `${host} closed the connection`));
        const forbidden = guard(host, address);
        if (forbidden !== null) fail(blocked(host, address, forbidden));
      });
    });
    // The request did not ask for a protocol upgrade. After an upgrade, the request no longer handles the socket's
    // errors.
    request.on("upgrade", (_response, socket) => {
      socket.on("error", () => {});
      fail(new MediaError("fetch_bad_answer", `${host} changed the protocol`));
    });
    request.on("response", (received) => {
      response = received;
      limits.enter("body");
      // The reader receives the error at its next read. This listener prevents an unhandled error between two reads.
      received.on("error", () => {});
      resolve(received);
    });
    request.end();
  });
}

function followStages(socket: Socket, url: URL, limits: TimeLimits): void {
  const secure = url.protocol === "https:";
  socket.once("connect", () => limits.enter(secure ? "secure" : "answer"));
  if (secure) socket.once("secureConnect", () => limits.enter("answer"));
}

function faultOf(error: Error, host: string, stage: FetchStage): Error {
  if (error instanceof MediaError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code.startsWith("HPE_")) {
    return new MediaError("fetch_bad_answer", `${host} did not answer with HTTP: ${error.message}`, { cause: error });
  }
  return new MediaError(FAILED[stage], `${host}: ${error.message || code}`, { cause: error });
}
