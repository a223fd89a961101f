import { parseAddressWithPort } from "../addresses/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

/** Maximum size of a request; a probe has no body. */
const MAX_REQUEST_BYTES = 1024;
/** Seconds after which a silent connection is closed. */
const IDLE_SECONDS = 10;

/**
 * Answers the probes of a worker: /readyz while it can work, and /healthz while it runs. Nothing else is served, and a
 * request changes nothing.
 * @param address host and port, e.g. `0.0.0.0:8788`
 * @param readiness returns why the worker cannot work now; null if it can
 * @throws {StartError} if it cannot listen
 */
export function startWorkerHealth(
  address: string,
  readiness: () => string | null,
): Disposable & { readonly port: number } {
  try {
    const { host, port } = parseAddressWithPort(address, "127.0.0.1:8788 or [::]:8788");
    const server = Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      fetch: (request) => answer(request, readiness),
    });
    return { port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
  } catch (error) {
    throw new StartError(`can't listen on fleet.health = ${address}: ${messageOf(error)}`);
  }
}

function answer({ method, url }: Request, readiness: () => string | null): Response {
  const { pathname } = new URL(url);
  if (pathname !== "/readyz" && pathname !== "/healthz")
    return Response.json({ status: "unknown path" }, { status: 404 });
  if (method !== "GET" && method !== "HEAD") {
    return Response.json({ status: "only GET and HEAD" }, { status: 405, headers: { Allow: "GET, HEAD" } });
  }
  if (pathname === "/healthz") return Response.json({ status: "alive" });
  const reason = readiness();
  if (reason === null) return Response.json({ status: "ready" });
  return Response.json({ status: "not ready", reason }, { status: 503, headers: { "Retry-After": "5" } });
}
