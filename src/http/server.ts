import type { Server } from "bun";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { App } from "./app.ts";
import type { Credentials } from "./credentials.ts";
import { ApiError } from "./errors.ts";
import { type Client, clientOf, type TrustedProxies } from "./forwarded.ts";
import { rateLimitHeaders } from "./rate-limits.ts";
import { type Connection, contextOf, type RequestContext, shareContext } from "./request-context.ts";

/** What is served beside the API on the same address; null: nothing is, at that path. */
export type Beside = (path: string) => ((request: Request) => Promise<Response>) | null;

export interface ServerOptions {
  readonly app: App;
  readonly beside?: Beside;
  readonly host: string;
  readonly port: number;
  readonly proxies: () => TrustedProxies;
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
    fetch: (request, server) => respond(request, server, options),
  });
}

async function respond(request: Request, server: Server<undefined>, options: ServerOptions): Promise<Response> {
  const { log, now } = options;
  const startedAt = now();
  const context = contextOf(request);
  context.client = clientOf(server.requestIP(request)?.address ?? "", request.headers, options.proxies());
  context.connection = connectionOf(request, server);
  // Bun counts a request as idle while its body comes in, and would cut every upload of more than its timeout. A sender
  // that falls silent is ended by the upload's own watch.
  server.timeout(request, 0);
  const routable = withRoutableHost(request);
  // A Host that is none leaves no URL to route by.
  const url = URL.parse(routable.url);
  context.origin = originOf(URL.parse(request.url) ?? url, context.client);
  const response = url === null ? unreadable(context) : await answer(handlerOf(url, options), routable);
  const headers = response.headers;
  headers.set("X-Request-Id", context.requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  for (const [name, value] of Object.entries(rateLimitHeaders(context.limits))) headers.set(name, value);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  const milliseconds = now() - startedAt;
  options.metrics.http.request(request.method, response.status, milliseconds / 1000);
  if (context.refusal !== null) options.metrics.http.refused(context.refusal);
  log[isProbe(url, response) ? "debug" : "info"]({
    event: "http.request",
    requestId: context.requestId,
    method: request.method,
    path: url?.pathname,
    status: response.status,
    milliseconds,
    keyId: context.caller?.key.id,
    ...(context.refusal === null ? {} : { error: context.refusal, address: context.client.address }),
  });
  server.timeout(request, idleSeconds);
  return response;
}

/** Bun forgets a request's address when its answer has ended, and applies a timeout to an answer that is being sent, too. */
function connectionOf(request: Request, server: Server<undefined>): Connection {
  return { isOpen: () => server.requestIP(request) !== null, cut: () => server.timeout(request, 1) };
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

function unreadable(context: RequestContext): Response {
  const refusal = new ApiError("bad_request", "The request's Host header or target can't be read.");
  context.refusal = refusal.code;
  return refusal.asResponse();
}

/** What load balancers and Prometheus ask every few seconds is of interest when it fails. */
function isProbe(url: URL | null, response: Response): boolean {
  return response.ok && ["/healthz", "/readyz", "/metrics"].includes(url?.pathname ?? "");
}

type Handler = (request: Request) => Promise<Response>;

function handlerOf({ pathname }: URL, { app, beside }: ServerOptions): Handler {
  return beside?.(pathname) ?? (async (request) => app.handle(request));
}

/** HEAD is GET without the body (RFC 9110, 9.3.2), which Bun leaves out by itself and whose length it tells. */
function answer(handle: Handler, request: Request): Promise<Response> {
  if (request.method !== "HEAD") return handle(request);
  const { url, headers, signal } = request;
  return handle(shareContext(new Request(url, { method: "GET", headers, signal }), request));
}
