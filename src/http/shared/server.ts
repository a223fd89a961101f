import type { Server } from "bun";
import type { Networks } from "../../addresses/index.ts";
import type { ChangeGate } from "../../disk/index.ts";
import type { Logger, Metrics } from "../../telemetry/index.ts";
import { ChangeAnswers } from "./changes.ts";
import { type Client, clientOf } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { ApiError, unavailable } from "./errors.ts";
import { HeldAnswers } from "./held-answers.ts";
import { type HostNames, hostRefusal } from "./hosts.ts";
import { rateLimitHeaders } from "./rate-limits.ts";
import { hasDotSegments, type RawSegments, rawPathRoutes } from "./raw-path.ts";
import { type Connection, contextOf, shareContext } from "./request-context.ts";
import { type SocketData, socketEvents } from "./sockets.ts";
import type { Surfaces } from "./surface.ts";

interface ServerOptions {
  readonly surfaces: Surfaces;
  /** Returns why nothing but probes may be answered now, as text for people; null if everything may. */
  readonly pause: () => string | null;
  readonly host: string;
  readonly port: number;
  readonly proxies: () => Networks;
  /**
   * Additional names accepted in a request's Host header, in addition to loopback names, addresses and the certificate's
   * names.
   */
  readonly hosts: () => HostNames;
  /** Certificate and key for TLS; null serves plain HTTP. */
  readonly credentials: Credentials | null;
  /** Decides whether changes may be answered; they always may if it is left out. */
  readonly changes?: ChangeGate;
  /** Time after which a WebSocket that answers no ping is closed, if it is not the usual one. */
  readonly silentSeconds?: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}

interface ListenOptions extends ServerOptions {
  readonly held: HeldAnswers;
  readonly changeAnswers: ChangeAnswers;
}

/** A listening server. */
interface HttpServer {
  readonly port: number;
  /**
   * Uses another certificate from now on. Requests in progress complete on their connections. Connections that wait for
   * their next request are closed, as may happen to idle connections at any time.
   */
  useCredentials(credentials: Credentials): void;
  /** Closes all connections, with the answers that are being sent on them, and continues to listen. */
  cut(): void;
  /** Stops accepting connections and waits until the requests in progress are answered, or cuts them. */
  stop(cut?: boolean): Promise<void>;
}

/** Maximum idle time of a connection between requests. */
const IDLE_SECONDS = 120;
/** Close code of a connection that no frame closed (RFC 6455, 7.4.1). */
const ABNORMAL_CLOSURE = 1006;
/** Maximum time for the head of a connection's first request, and for the TLS handshake before it. */
const HEAD_SECONDS = 30;

/** Starts listening. Every answer, errors included, passes through this module and gets the common headers. */
export function startServer(serverOptions: ServerOptions): HttpServer {
  const options: ListenOptions = {
    ...serverOptions,
    held: new HeldAnswers(serverOptions),
    changeAnswers: new ChangeAnswers(serverOptions.changes ?? null),
  };
  let current = listen(options, options.port, options.credentials);
  const port = current.port ?? options.port;
  let { credentials } = options;
  const stopping = new Set<Server<SocketData>>();
  /** Lets a new server take over the port. */
  const renew = (cut: boolean) => {
    const before = current;
    stopping.add(before);
    void before.stop(cut).then(() => stopping.delete(before));
    current = listen(options, port, credentials);
  };
  return {
    port,
    useCredentials(next) {
      credentials = next;
      // Bun's reload() does not change a server's certificate.
      renew(false);
    },
    cut: () => renew(true),
    async stop(cut = false) {
      await Promise.all([current, ...stopping].map((server) => server.stop(cut)));
    },
  };
}

function listen(options: ListenOptions, port: number, credentials: Credentials | null): Server<SocketData> {
  const served: ListenOptions = { ...options, credentials };
  return Bun.serve<SocketData>({
    hostname: options.host,
    port,
    ...(credentials === null ? {} : { tls: { cert: credentials.certificate, key: credentials.key } }),
    // With reusePort, two servers on one port would silently share its requests.
    reusePort: false,
    development: false,
    // Bun's own refusal lacks the error envelope, and the upload counts its bytes itself. 0 would refuse everything.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: HEAD_SECONDS,
    websocket: socketEvents(options.silentSeconds),
    ...rawPathRoutes((request, server, segments) => respond(request, { server, segments }, served)),
  });
}

interface Arrival {
  readonly server: Server<SocketData>;
  readonly segments: RawSegments;
}

/** @returns undefined for a request that has become a WebSocket */
async function respond(
  request: Request,
  { server, segments }: Arrival,
  options: ListenOptions,
): Promise<Response | undefined> {
  const { held, changeAnswers } = options;
  const startedAt = options.now();
  const context = contextOf(request);
  context.client = clientOf(server.requestIP(request)?.address ?? "", request.headers, options.proxies());
  context.connection = connectionOf(request, server);
  // Bun's timeout limits the total time, so it would cut long uploads. The code that reads a body ends slow senders.
  server.timeout(request, 0);
  const routable = withRoutableHost(request);
  // With an invalid Host there is no URL to route by.
  const url = URL.parse(routable.url);
  context.origin = originOf(URL.parse(request.url) ?? url, context.client);
  const path = url?.pathname ?? "";
  const { surfaces } = options;
  const pauseOf = () => (mayPause(path) ? options.pause() : null);
  const before = pauseOf();
  const refusal =
    before === null
      ? (refusalOf(request, url, segments, options) ?? changeAnswers.refusalOf(request, path))
      : paused(before);
  const refuse = (error: ApiError) => {
    context.refusal = error.code;
    return surfaces.of(path).toAnswer(error);
  };
  let response = refusal === null ? await answer(surfaces, routable, path) : refuse(refusal);
  const unconfirmed = await changeAnswers.unconfirmed(request, path, response);
  if (unconfirmed !== null) response = refuse(unconfirmed);
  const heldRefusal = request.method === "HEAD" ? null : held.refusalOf(request);
  if (heldRefusal !== null) response = refuse(heldRefusal);
  // The server may have been stopped while it prepared the answer, e.g. by the pause of a virtual machine.
  const after = pauseOf();
  if (before === null && after !== null) {
    void response.body?.cancel();
    response = refuse(paused(after));
  }
  const headers = response.headers;
  headers.set("X-Request-Id", context.requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  for (const [name, value] of Object.entries(rateLimitHeaders(context.limits))) headers.set(name, value);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  logRequest(request, response, { url, milliseconds: options.now() - startedAt }, options);
  const { socket } = context;
  if (socket !== null) {
    const isAccepted = response.status === 101;
    if (isAccepted && server.upgrade(request, { headers, data: { handler: socket } })) return undefined;
    socket.close(ABNORMAL_CLOSURE);
    // The client has disconnected.
    if (isAccepted) response = refuse(new ApiError("bad_request", "This request can't become a WebSocket."));
  }
  // From here on the timeout also ends a client that does not finish sending a body which nobody reads.
  server.timeout(request, IDLE_SECONDS);
  return response;
}

/** Paths that are answered while the server is paused, because they are about the server and not about its data. */
const UNPAUSED: readonly string[] = ["/healthz", "/readyz", "/metrics"];
const mayPause = (path: string) => !UNPAUSED.includes(path);

const PAUSE_RETRY_SECONDS = 5;
const paused = (reason: string) => unavailable(`This server may not answer now: ${reason}.`, PAUSE_RETRY_SECONDS);

/**
 * Returns the connection of a request. Bun drops a request's address when its answer is finished, and applies a changed
 * timeout to an answer that is being sent.
 */
function connectionOf(request: Request, server: Server<SocketData>): Connection {
  return { isOpen: () => server.requestIP(request) !== null, cut: () => server.timeout(request, 1) };
}

function logRequest(
  request: Request,
  response: Response,
  { url, milliseconds }: { readonly url: URL | null; readonly milliseconds: number },
  { metrics, log }: ServerOptions,
): void {
  const { requestId, caller, keylessAccount, refusal, client } = contextOf(request);
  metrics.http.request(request.method, response.status, milliseconds / 1000);
  if (refusal !== null) metrics.http.refused(refusal);
  log[isProbe(url, response) ? "debug" : "info"]({
    event: "http.request",
    requestId,
    method: request.method,
    path: url === null ? undefined : loggablePath(url.pathname),
    status: response.status,
    // The client did not receive this status.
    clientClosed: request.signal.aborted ? true : undefined,
    milliseconds,
    keyId: caller?.key.id,
    accountId: keylessAccount?.id,
    ...(refusal === null ? {} : { error: refusal, address: client.address }),
  });
}

/**
 * Replaces path segments that can't be part of the server's paths or ids, since a client may have put its key there in
 * any encoding. A key is longer than 36 characters, the length of a UUID.
 */
function loggablePath(path: string): string {
  return path
    .split("/")
    .map((segment) => (/^[\w.-]{0,36}$/.test(segment) && !segment.includes("trs_") ? segment : "*"))
    .join("/");
}

/**
 * Returns a request that the router can handle. Probes of load balancers use HTTP/1.0 without a Host header, so their
 * URL is only a path. Over HTTPS, the router expects a host of at least three characters.
 */
function withRoutableHost(request: Request): Request {
  const { url } = request;
  if (url.startsWith("/") && !request.headers.get("host")) {
    return shareContext(new Request(`http://localhost${url}`, request), request);
  }
  const short = /^https:\/\/[^/]{1,2}(?=\/)/.exec(url)?.[0];
  if (short === undefined) return request;
  return shareContext(new Request(`https://localhost${url.slice(short.length)}`, request), request);
}

/**
 * Returns the base URL under which the client reaches this server. A scheme reported by a trusted proxy takes
 * precedence.
 */
function originOf(url: URL | null, { scheme }: Client): string {
  return url === null ? "" : `${scheme === null ? url.protocol : `${scheme}:`}//${url.host}`;
}

/**
 * Returns whether a request is a successful probe of a load balancer or Prometheus. These come every few seconds and
 * matter only when they fail.
 */
function isProbe(url: URL | null, response: Response): boolean {
  return response.ok && ["/healthz", "/readyz", "/metrics", "/fleet/workers"].includes(url?.pathname ?? "");
}

/** Returns the error of a request whose target or host is not this server's; null for any other. */
function refusalOf(
  request: Request,
  url: URL | null,
  segments: RawSegments,
  { hosts, credentials }: ServerOptions,
): ApiError | null {
  const refusal = hostRefusal(request.headers.get("host"), hosts(), credentials?.leaf ?? null);
  if (refusal !== null) return new ApiError("bad_request", refusal);
  if (url === null) return new ApiError("bad_request", "The request's target can't be read.");
  if (hasDotSegments(segments, url.pathname)) {
    return new ApiError("bad_request", "The request's path has dot segments or backslashes; send it resolved.");
  }
  return null;
}

/** Answers a request. HEAD is handled as GET (RFC 9110, 9.3.2): Bun omits the body and reports its length. */
function answer(surfaces: Surfaces, request: Request, path: string): Promise<Response> {
  if (request.method !== "HEAD") return surfaces.answer(request, path);
  const { url, headers, signal } = request;
  return surfaces.answer(shareContext(new Request(url, { method: "GET", headers, signal }), request), path);
}
