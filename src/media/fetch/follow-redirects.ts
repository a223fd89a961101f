import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import {
  type AddressGuard,
  GuardError,
  guardedRequest,
  hostOf,
  type ResolveHost,
  UpgradeError,
} from "../../addresses/index.ts";
import { codeOf } from "../../text/index.ts";
import { MediaError } from "../media-error.ts";
import { isPlaylistLink } from "./check-content.ts";
import { FAULTS, type FetchStage, type TimeLimits } from "./time-limits.ts";

/** Settings that all requests of one fetch share. */
interface RequestOptions {
  readonly guard: AddressGuard;
  readonly resolve: ResolveHost;
  readonly limits: TimeLimits;
  readonly userAgent: string;
  /** Certificate authorities in PEM that are trusted in addition to the public ones. */
  readonly authorities: readonly string[] | undefined;
}

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

/** Decodes a Location header, which the runtime returns as Latin-1; a path without percent-encoding is UTF-8. */
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

/**
 * Sends one GET, see `guardedRequest`.
 * @throws {MediaError} when the request fails
 * @throws any error once `limits.signal` is aborted
 */
async function openResponse(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const { guard, limits, userAgent, authorities } = options;
  const host = hostOf(url);
  limits.enter(isIP(host) === 0 ? "resolve" : "connect");
  const resolve: ResolveHost = async (name) => {
    const addresses = await options.resolve(name);
    limits.enter("connect");
    return addresses;
  };
  return await guardedRequest(url, {
    ...{ guard, resolve, userAgent, authorities, signal: limits.signal },
    onStage: (stage) => limits.enter(stage),
    toFault: (error) => faultOf(error, host, limits.stage),
  });
}

function faultOf(error: Error, host: string, stage: FetchStage): Error {
  if (error instanceof MediaError) return error;
  if (error instanceof GuardError) return mediaError(error);
  if (error instanceof UpgradeError) return new MediaError("fetch_bad_answer", error.message);
  const code = codeOf(error);
  if (code.startsWith("HPE_")) {
    return new MediaError("fetch_bad_answer", `${host} did not answer with HTTP: ${error.message}`, { cause: error });
  }
  return new MediaError(FAULTS[stage].failed, `${host}: ${error.message || code}`, { cause: error });
}

function mediaError(error: GuardError): MediaError {
  const { fault, message, cause } = error;
  if (fault === "unresolved") return new MediaError("fetch_dns_failed", message, { cause });
  return new MediaError("fetch_blocked_address", `${message} (fetch.allow can permit hosts and networks)`);
}
