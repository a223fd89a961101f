import type { IncomingMessage } from "node:http";
import { MediaError } from "../media-error.ts";
import { hostOf } from "./allow-list.ts";
import { isPlaylistLink } from "./check-content.ts";
import { openResponse, type RequestOptions } from "./open-response.ts";

/** Maximum number of redirects, set by the API contract. */
const MAX_REDIRECTS = 5;

/** Statuses that redirect a GET to another location (RFC 9110, section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a GET and follows redirects to the final response. Each target is checked like the first link, and its host is
 * resolved and checked again. Nothing from one response (cookies, a referrer) is sent with the next request.
 * @throws {MediaError} as openResponse does, and `fetch_bad_url`, `fetch_playlist` or `fetch_redirects` when a redirect
 * cannot be followed
 */
export async function followRedirects(
  start: URL,
  options: RequestOptions,
): Promise<{ readonly response: IncomingMessage; readonly host: string }> {
  let url = followable(start, null);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await openResponse(url, options);
    const location = response.headers.location;
    if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) return { response, host: hostOf(url) };
    response.destroy();
    url = followable(resolveLocation(location, url), url);
  }
  throw new MediaError("fetch_redirects", `${hostOf(url)}: more than ${MAX_REDIRECTS} redirects`);
}

function resolveLocation(location: string, from: URL): URL {
  try {
    return new URL(readLocation(location), from);
  } catch (cause) {
    throw new MediaError("fetch_bad_url", `${hostOf(from)} redirects to an invalid link`, { cause });
  }
}

/**
 * Decodes a Location header. The runtime returns the header's bytes as Latin-1. A path that is not percent-encoded,
 * although it should be, is UTF-8.
 */
function readLocation(location: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(location, "latin1"));
  } catch {
    return location;
  }
}

function followable(url: URL, from: URL | null): URL {
  const source = from === null ? "" : `${hostOf(from)} redirects to `;
  const refuse = (what: string) => new MediaError("fetch_bad_url", `${source}${what}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refuse(`a link of scheme ${url.protocol}`);
  if (from?.protocol === "https:" && url.protocol === "http:") throw refuse("http, away from https");
  if (url.username !== "" || url.password !== "") throw refuse("a link with credentials");
  if (from !== null && isPlaylistLink(url)) throw new MediaError("fetch_playlist", `${source}a playlist`);
  const target = new URL(url);
  target.hash = "";
  return target;
}
