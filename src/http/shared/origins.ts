/** Origins of web pages in the form of RFC 6454: `https://notes.example.org`. */
export type Origins = ReadonlySet<string>;

/**
 * Parses the operator's list of origins.
 * @throws {Error} that names the first entry which is not an origin
 */
export function parseOrigins(entries: readonly string[]): Set<string> {
  return new Set(
    entries.map((entry) => {
      const url = URL.parse(entry.trim());
      // Schemes of programs (app://obsidian.md) have no origin in the URL standard.
      const origin = url === null ? "" : `${url.protocol}//${url.host}`;
      const isPlain = url !== null && url.host !== "" && !url.host.includes("*");
      if (isPlain && origin === entry.trim().toLowerCase()) return origin;
      throw new Error(`${entry} is not an origin; write https://notes.example.org, without a path and without *`);
    }),
  );
}

/** How long browsers may remember the answer to a preflight request. Longer would delay a change of the list. */
const PREFLIGHT_SECONDS = 600;
/** Headers of answers that pages may read in addition to the usual ones. */
const EXPOSED_HEADERS = "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Content-Disposition, x-should-retry";

/** Returns the answer to a preflight request (Fetch Standard, 4.8) of an allowed page; null for any other request. */
export function preflightAnswer({ method, headers }: Request, origins: Origins): Response | null {
  const requested = headers.get("access-control-request-method");
  if (method !== "OPTIONS" || requested === null || !isAllowed(headers, origins)) return null;
  return withOrigin(
    headers,
    new Response(null, {
      status: 204,
      headers: {
        "Access-Control-Allow-Methods": requested,
        // A key in a header is no cookie: a page can only send one that it has.
        "Access-Control-Allow-Headers": headers.get("access-control-request-headers") ?? "",
        "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
      },
    }),
  );
}

/** Lets a page of an allowed origin read an answer. @returns the answer */
export function withCors({ headers }: Request, origins: Origins, answer: Response): Response {
  if (origins.size === 0) return answer;
  if (!isAllowed(headers, origins)) return variesByOrigin(answer);
  answer.headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  return withOrigin(headers, answer);
}

function isAllowed(headers: Headers, origins: Origins): boolean {
  return origins.has(headers.get("origin")?.toLowerCase() ?? "");
}

function withOrigin(headers: Headers, answer: Response): Response {
  answer.headers.set("Access-Control-Allow-Origin", headers.get("origin") ?? "");
  return variesByOrigin(answer);
}

/** Keeps caches from giving one origin's answer to another. */
function variesByOrigin(answer: Response): Response {
  answer.headers.append("Vary", "Origin");
  return answer;
}
