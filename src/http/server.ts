import type { Server } from "bun";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { App } from "./app.ts";
import { ApiError } from "./errors.ts";
import { clientOf, type TrustedProxies } from "./forwarded.ts";
import { rateLimitHeaders } from "./rate-limits.ts";
import { contextOf, shareContext } from "./request-context.ts";

export interface ServerOptions {
  readonly app: App;
  readonly host: string;
  readonly port: number;
  readonly proxies: () => TrustedProxies;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** How long a connection may do nothing between requests. */
const idleSeconds = 120;

/** Listens. Every answer, errors too, leaves through here and carries the headers that all answers carry. */
export function startServer(options: ServerOptions): Server<undefined> {
  const { app, log, now } = options;
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    // Two servers on one port would share its requests in silence.
    reusePort: false,
    development: false,
    // Bun's own refusal is bare, without the envelope; the upload counts its bytes itself. 0 would refuse everything.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleSeconds,
    async fetch(request, server) {
      const startedAt = now();
      const context = contextOf(request);
      context.client = clientOf(server.requestIP(request)?.address ?? "", request.headers, options.proxies());
      // Bun counts a request as idle while its body comes in, and would cut every upload of more than its timeout. A sender
      // that falls silent is ended by the upload's own watch.
      server.timeout(request, 0);
      const routable = withHost(request);
      // A Host that is none leaves no URL to route by.
      const url = URL.parse(routable.url);
      const response = url === null ? unreadable().toResponse() : await answer(app, routable);
      const headers = response.headers;
      headers.set("X-Request-Id", context.requestId);
      headers.set("X-Content-Type-Options", "nosniff");
      for (const [name, value] of Object.entries(rateLimitHeaders(context.limits))) headers.set(name, value);
      if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
      const milliseconds = now() - startedAt;
      options.metrics.request(request.method, response.status, milliseconds / 1000);
      log.info({
        event: "http.request",
        requestId: context.requestId,
        method: request.method,
        path: url?.pathname,
        status: response.status,
        milliseconds,
        keyId: context.caller?.key.id,
      });
      server.timeout(request, idleSeconds);
      return response;
    },
  });
}

/** HTTP/1.0 knows no Host header, and the probes of load balancers speak it: such a request names a path alone. */
function withHost(request: Request): Request {
  if (!request.url.startsWith("/") || request.headers.get("host")) return request;
  return shareContext(new Request(`http://localhost${request.url}`, request), request);
}

function unreadable(): ApiError {
  return new ApiError("bad_request", "The request's Host header or target can't be read.");
}

/** HEAD is GET without the body (RFC 9110, 9.3.2), which Bun leaves out by itself and whose length it tells. */
async function answer(app: App, request: Request): Promise<Response> {
  if (request.method !== "HEAD") return app.handle(request);
  return app.handle(shareContext(new Request(request.url, { method: "GET", headers: request.headers }), request));
}
