import type { Server } from "bun";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { App } from "./app.ts";
import type { Credentials } from "./credentials.ts";
import { ApiError } from "./errors.ts";
import { type Client, clientOf, type TrustedProxies } from "./forwarded.ts";
import { type HostNames, hostFault } from "./hosts.ts";
import { rateLimitHeaders } from "./rate-limits.ts";
import { hasDotSegments, type RawSegments, rawPathRoutes } from "./raw-path.ts";
import { type Connection, contextOf, shareContext } from "./request-context.ts";

/** What is served beside the API on the same address; null: nothing is, at that path. */
export type Beside = (path: string) => ((request: Request) => Promise<Response>) | null;

export interface ServerOptions {
  readonly app: App;
  readonly beside?: Beside;
  readonly host: string;
  readonly port: number;
  readonly proxies: () => TrustedProxies;
  /** Names that a request's Host header may give, besides loopback names, addresses and those in the certificate. */
  readonly hosts: () => HostNames;
  /** What TLS is spoken with; null speaks plain HTTP. */
  readonly credentials: Credentials | null;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** A server that listens. */
export interface HttpServer {
  readonly port: number;
  /**
   * Shows another certificate from now on. Requests under way end on their connections, those that wait for the next
   * request are closed, as at any time when they have been idle.
   */
  useCredentials(credentials: Credentials): void;
  /** Takes no more connections and waits until the requests under way are answered, or cuts them. */
  stop(cut?: boolean): Promise<void>;
}

/** How long a connection may do nothing between requests. */
const idleSeconds = 120;
/** How long the head of a connection's first request may take, and the handshake before it where TLS is spoken. */
const headSeconds = 30;

/** Listens. Every answer, errors too, leaves through here and carries the headers that all answers carry. */
export function startServer(options: ServerOptions): HttpServer {
  let current = listen(options, options.port, options.credentials);
  const port = current.port ?? options.port;
  const ending = new Set<Server<undefined>>();
  return {
    port,
    useCredentials(credentials) {
      // Bun's reload() leaves a server's certificate as it is, so another server takes the port over.
      const before = current;
      ending.add(before);
      void before.stop().then(() => ending.delete(before));
      current = listen(options, port, credentials);
    },
    async stop(cut = false) {
      await Promise.all([current, ...ending].map((server) => server.stop(cut)));
    },
  };
}

function listen(options: ServerOptions, port: number, credentials: Credentials | null): Server<undefined> {
  const served: ServerOptions = { ...options, credentials };
  return Bun.serve({
    hostname: options.host,
    port,
    ...(credentials === null ? {} : { tls: { cert: credentials.certificate, key: credentials.key } }),
    // Two servers on one port would share its requests in silence.
    reusePort: false,
    development: false,
    // Bun's own refusal is bare, without the envelope; the upload counts its bytes itself. 0 would refuse everything.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: headSeconds,
    ...rawPathRoutes((request, server, segments) => respond(request, { server, segments }, served)),
  });
}

interface Arrival {
  readonly server: Server<undefined>;
  readonly segments: RawSegments;
}

async function respond(request: Request, { server, segments }: Arrival, options: ServerOptions): Promise<Response> {
  const startedAt = options.now();
  const context = contextOf(request);
  context.client = clientOf(server.requestIP(request)?.address ?? "", request.headers, options.proxies());
  context.connection = connectionOf(request, server);
  // Bun's timeout is a total one: it would cut every upload that takes longer. Whoever reads a body ends a slow sender.
  server.timeout(request, 0);
  const routable = withRoutableHost(request);
  // A Host that is none leaves no URL to route by.
  const url = URL.parse(routable.url);
  context.origin = originOf(URL.parse(request.url) ?? url, context.client);
  const handle = handlerOf(request, url, segments, options);
  const response = handle instanceof ApiError ? handle.asResponse() : await answer(handle, routable);
  if (handle instanceof ApiError) context.refusal = handle.code;
  const headers = response.headers;
  headers.set("X-Request-Id", context.requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  for (const [name, value] of Object.entries(rateLimitHeaders(context.limits))) headers.set(name, value);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  logRequest(request, response, { url, milliseconds: options.now() - startedAt }, options);
  // From here on the timeout also ends a client that does not finish a body which nobody reads.
  server.timeout(request, idleSeconds);
  return response;
}

/** Bun forgets a request's address when its answer has ended, and applies a timeout to an answer that is being sent, too. */
function connectionOf(request: Request, server: Server<undefined>): Connection {
  return { isOpen: () => server.requestIP(request) !== null, cut: () => server.timeout(request, 1) };
}

function logRequest(
  request: Request,
  response: Response,
  { url, milliseconds }: { readonly url: URL | null; readonly milliseconds: number },
  { metrics, log }: ServerOptions,
): void {
  const { requestId, caller, refusal, client } = contextOf(request);
  metrics.http.request(request.method, response.status, milliseconds / 1000);
  if (refusal !== null) metrics.http.refused(refusal);
  log[isProbe(url, response) ? "debug" : "info"]({
    event: "http.request",
    requestId,
    method: request.method,
    path: url === null ? undefined : loggablePath(url.pathname),
    status: response.status,
    // Nobody has read this status then.
    clientClosed: request.signal.aborted ? true : undefined,
    milliseconds,
    keyId: caller?.key.id,
    ...(refusal === null ? {} : { error: refusal, address: client.address }),
  });
}

/**
 * The path without the segments that none of the server's paths and ids can have: a client may have put its key there, in any
 * encoding. A key is longer than 36 characters, the length of a UUID.
 */
function loggablePath(path: string): string {
  return path
    .split("/")
    .map((segment) => (/^[\w.-]{0,36}$/.test(segment) && !segment.includes("trs_") ? segment : "*"))
    .join("/");
}

/**
 * HTTP/1.0 knows no Host header, and the probes of load balancers speak it: such a request names a path alone. A host of two
 * letters over HTTPS is shorter than the router takes one to be.
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

/** Where the client knows this server to be: what it asked for, by what it spoke to the proxy if a trusted one says so. */
function originOf(url: URL | null, { scheme }: Client): string {
  return url === null ? "" : `${scheme === null ? url.protocol : `${scheme}:`}//${url.host}`;
}

/** What load balancers and Prometheus ask every few seconds is of interest when it fails. */
function isProbe(url: URL | null, response: Response): boolean {
  return response.ok && ["/healthz", "/readyz", "/metrics"].includes(url?.pathname ?? "");
}

type Handler = (request: Request) => Promise<Response>;

/** What handles a request, or why nothing does: a target or a host that is not this server's. */
function handlerOf(
  request: Request,
  url: URL | null,
  segments: RawSegments,
  { app, beside, hosts, credentials }: ServerOptions,
): Handler | ApiError {
  const fault = hostFault(request.headers.get("host"), hosts(), credentials?.leaf ?? null);
  if (fault !== null) return new ApiError("bad_request", fault);
  if (url === null) return new ApiError("bad_request", "The request's target can't be read.");
  if (hasDotSegments(segments, url.pathname)) {
    return new ApiError("bad_request", "The request's path has dot segments or backslashes; send it resolved.");
  }
  return beside?.(url.pathname) ?? (async (incoming) => app.handle(incoming));
}

/** HEAD is GET without the body (RFC 9110, 9.3.2), which Bun leaves out by itself and whose length it tells. */
function answer(handle: Handler, request: Request): Promise<Response> {
  if (request.method !== "HEAD") return handle(request);
  const { url, headers, signal } = request;
  return handle(shareContext(new Request(url, { method: "GET", headers, signal }), request));
}
