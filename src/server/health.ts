import { parseAddressWithPort } from "../addresses/index.ts";
import type { Settings } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { StartError } from "./start-error.ts";

/** Maximum size of a request; a probe has no body. */
const MAX_REQUEST_BYTES = 1024;
/** Seconds after which a silent connection is closed. */
const IDLE_SECONDS = 10;

/** Returns why a machine cannot work now; null if it can. */
type Readiness = () => string | null;

/**
 * Answers the probes of a worker: /readyz while it can work, and /healthz while it runs. Nothing else is served, and a
 * request changes nothing.
 * @param address host and port, e.g. `0.0.0.0:8788`
 * @throws {StartError} if it cannot listen
 */
export function startWorkerHealth(address: string, readiness: Readiness): Disposable & { readonly port: number } {
  try {
    const server = listen(parseAddressWithPort(address, "127.0.0.1:8788 or [::]:8788"), null, (request) =>
      answer(request, readiness, () => Response.json({ status: "unknown path" }, { status: 404 })),
    );
    return { port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
  } catch (error) {
    throw new StartError(`can't listen on fleet.health = ${address}: ${messageOf(error)}`);
  }
}

/**
 * Answers on the server's address while this machine follows another server: it is alive and not ready. So the probes
 * and load balancers of a server can stay as they are, and clients that come here learn to try again.
 * @param reason returns what the machine does instead of serving
 * @throws {StartError} if it cannot listen, or has no usable certificate
 */
export function startStandbyHealth(
  settings: Pick<Settings["server"], "host" | "port" | "tls_certificate" | "tls_key">,
  reason: () => string,
  log: Logger,
): Disposable & { readonly port: number } {
  const { host, port } = settings;
  const certificate = settings.tls_certificate === "" ? null : new ServerCertificate(settings, log, Date.now);
  try {
    const server = listen({ host, port }, certificate, (request) =>
      answer(request, reason, (path) => (path === "/metrics" ? noMetrics() : notReady(reason()))),
    );
    return { port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
  } catch (error) {
    throw new StartError(`can't listen on server.host = ${host}, server.port = ${port}: ${messageOf(error)}`);
  }
}

function listen(
  { host, port }: { readonly host: string; readonly port: number },
  certificate: ServerCertificate | null,
  fetch: (request: Request) => Response,
) {
  const tls =
    certificate === null ? {} : { tls: { cert: certificate.current.certificate, key: certificate.current.key } };
  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_REQUEST_BYTES,
    fetch,
    ...tls,
  });
}

/** @param elsewhere answers other paths than those of the probes */
function answer({ method, url }: Request, readiness: Readiness, elsewhere: (path: string) => Response): Response {
  const { pathname } = new URL(url);
  if (pathname !== "/readyz" && pathname !== "/healthz") return elsewhere(pathname);
  if (method !== "GET" && method !== "HEAD") {
    return Response.json({ status: "only GET and HEAD" }, { status: 405, headers: { Allow: "GET, HEAD" } });
  }
  if (pathname === "/healthz") return Response.json({ status: "alive" });
  const reason = readiness();
  return reason === null ? Response.json({ status: "ready" }) : notReady(reason);
}

function notReady(reason: string): Response {
  return Response.json({ status: "not ready", reason }, { status: 503, headers: { "Retry-After": "5" } });
}

/** Answers Prometheus, which scrapes both machines: a standby is no server that is down. */
function noMetrics(): Response {
  return new Response("# This machine follows another server, which has the metrics of both.\n", {
    headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}
