import type { BunRequest, Server } from "bun";

/** The percent-decoded segments of a path as it was sent; null where it has empty ones or too many. */
export type RawSegments = readonly string[] | null;

type Handle = (request: Request, server: Server<undefined>, segments: RawSegments) => Promise<Response>;

/** More than any path of the server has. */
const MOST_SEGMENTS = 8;

/**
 * Routes for `Bun.serve` that show the path as it was sent. Bun resolves `..` and `\` before it shows a request's URL (WHATWG
 * URL), so a proxy that passes on `/api/` alone would let `/api/../console/` through. Bun's router, however, matches the
 * path as it was sent, and the parameters of a route are the segments of that path.
 */
export function rawPathRoutes(handle: Handle) {
  const routes: Record<string, (request: BunRequest, server: Server<undefined>) => Promise<Response>> = {
    "/": (request, server) => handle(request, server, []),
  };
  for (let count = 1; count <= MOST_SEGMENTS; count += 1) {
    const pattern = Array.from({ length: count }, (_, at) => `/:s${at}`).join("");
    const route = (request: BunRequest, server: Server<undefined>) =>
      handle(request, server, Object.values<string>(request.params));
    routes[pattern] = route;
    routes[`${pattern}/`] = route;
  }
  return { routes, fetch: (request: Request, server: Server<undefined>) => handle(request, server, null) };
}

/** Whether the path as it was sent holds dot segments. @param path the same path, resolved */
export function hasDotSegments(segments: RawSegments, path: string): boolean {
  if (segments !== null) return segments.some((segment) => dotSegment.test(segment));
  // A path like this one has a route above, so the path that was sent was another.
  const resolved = path.replace(/\/$/, "").split("/").slice(1);
  return resolved.length <= MOST_SEGMENTS && !resolved.includes("");
}

/** `.` or `..`, also next to an encoded slash or before a fragment; or a backslash, which counts as a slash in URLs. */
const dotSegment = /(?:^|\/)\.{1,2}(?:[/#]|$)|\\/;
