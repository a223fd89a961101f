import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { type AddressGuard, forbiddenHost } from "./address-guard.ts";
import { FetchError, type FetchFault } from "./fetch-error.ts";
import { blocked, guardedLookup, type ResolveHost } from "./guarded-lookup.ts";
import { hostOf } from "./host.ts";
import type { FetchStage, TimeLimits } from "./time-limits.ts";

/** What all requests of one fetch have in common. */
export interface Requesting {
  readonly guard: AddressGuard;
  readonly resolve: ResolveHost;
  readonly limits: TimeLimits;
  readonly userAgent: string;
  /** Certificate authorities in PEM that are trusted beside the public ones. */
  readonly authorities: readonly string[] | undefined;
}

/** What a failure of the connection means in each stage; an answer that is no HTTP is told apart before. */
const FAILED: Record<FetchStage, FetchFault> = {
  resolve: "fetch_dns_failed",
  connect: "fetch_connect_failed",
  secure: "fetch_tls_failed",
  answer: "fetch_interrupted",
  body: "fetch_interrupted",
};

/**
 * Sends one GET and resolves with the answer when its header is there, whatever the status. Every request has a connection of its own, and
 * no proxy of the environment takes part. The caller reads the body or destroys it. An error of the connection and the end of
 * `limits.signal` destroy it under the reader's hands; where that signal is aborted, its reason is what happened.
 *
 * Throws FetchError, and any error at all once `limits.signal` is aborted.
 */
export async function openAnswer(url: URL, requesting: Requesting): Promise<IncomingMessage> {
  const { guard, limits } = requesting;
  const host = hostOf(url);
  const forbidden = forbiddenHost(guard, host);
  if (forbidden !== null) throw blocked(host, host, forbidden);
  limits.signal.throwIfAborted();
  limits.enter(isIP(host) === 0 ? "resolve" : "connect");
  const resolveHost: ResolveHost = async (name) => {
    const addresses = await requesting.resolve(name);
    limits.enter("connect");
    return addresses;
  };

  return await new Promise<IncomingMessage>((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const fail = (error: Error) => {
      reject(error);
      answer?.destroy(error);
      request.destroy(error);
    };
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      agent: false,
      lookup: guardedLookup(host, guard, resolveHost),
      headers: {
        accept: "*/*",
        // Recordings don't get smaller by it, and what is not decompressed is no bomb.
        "accept-encoding": "identity",
        "user-agent": requesting.userAgent,
      },
      // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would turn it off.
      rejectUnauthorized: true,
      ...(requesting.authorities === undefined ? {} : { ca: [...rootCertificates, ...requesting.authorities] }),
    });
    const abort = () => fail(new Error("aborted"));
    limits.signal.addEventListener("abort", abort, { once: true });
    // The look-up has begun, and may have taken its time.
    if (limits.signal.aborted) abort();
    request.on("error", (error) => fail(faultOf(error, host, limits.stage)));
    request.on("socket", (socket: Socket) => {
      followStages(socket, url, limits);
      // The guard sits in the look-up. A runtime that went round it would be found out here, before a byte is read.
      socket.once("connect", () => {
        const address = socket.remoteAddress;
        if (address === undefined) return fail(new FetchError("fetch_connect_failed", `${host} hung up`));
        const forbidden = guard(host, address);
        if (forbidden !== null) fail(blocked(host, address, forbidden));
      });
    });
    // Nobody asked for another protocol. The socket is out of the request's hands then.
    request.on("upgrade", (_response, socket) => {
      socket.on("error", () => {});
      fail(new FetchError("fetch_bad_answer", `${host} changed the protocol`));
    });
    request.on("response", (response) => {
      answer = response;
      limits.enter("body");
      // Errors are thrown to whoever reads; between two reads they wait there.
      response.on("error", () => {});
      resolve(response);
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
  if (error instanceof FetchError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code.startsWith("HPE_")) {
    return new FetchError("fetch_bad_answer", `what ${host} sent is not HTTP: ${error.message}`, { cause: error });
  }
  return new FetchError(FAILED[stage], `${host}: ${error.message || code}`, { cause: error });
}
