import type { BunRequest, Server } from "bun";
import type { SocketData } from "./sockets.ts";

/** The percent-decoded segments of a path as it was sent; null if some are empty or there are too many. */
export type RawSegments = readonly string[] | null;

type Handle = (request: Request, server: Server<SocketData>, segments: RawSegments) => Promise<Response | undefined>;

/** Longest path that gets a route, in segments. No path of the server has as many. */
const MAX_SEGMENTS = 8;

/**
 * Returns routes for `Bun.serve` that pass on the path as it was sent. Bun resolves `..` and `\` in a request's URL
 * (WHATWG URL). So a proxy that forwards only `/api/` would let `/api/../console/` through. Bun's router, however,
 * matches the path as it was sent, and the parameters of a route are the segments of that path.
 */
export function rawPathRoutes(handle: Handle) {
  const routes: Record<string, (request: BunRequest, server: Server<SocketData>) => Promise<Response | undefined>> = {
    "/": (request, server) => handle(request, server, []),
  };
  for (let count = 1; count <= MAX_SEGMENTS; count += 1) {
    const pattern = Array.from({ length: count }, (_, at) => `/:s${at}`).join("");
    const route = (request: BunRequest, server: Server<SocketData>) =>
      handle(request, server, Object.values<string>(request.params));
    routes[pattern] = route;
    routes[`${pattern}/`] = route;
  }
  return { routes, fetch: (request: Request, server: Server<SocketData>) => handle(request, server, null) };
}

/** Returns whether the path as it was sent has dot segments. @param path the same path, resolved */
export function hasDotSegments(segments: RawSegments, path: string): boolean {
  if (segments !== null) return segments.some((segment) => dotSegment.test(segment));
  // A path of this form has a route above. No route matched, so the path that was sent differed from the resolved one.
  const resolved = path.replace(/\/$/, "").split("/").slice(1);
  return resolved.length <= MAX_SEGMENTS && !resolved.includes("");
}

/**
 * Dot segments (`.` or `..`), also next to an encoded slash or before a fragment, and backslashes, which count as
 * slashes in URLs.
 */
const dotSegment = /(?:^|\/)\.{1,2}(?:[/#]|$)|\\/;
