import type { RequestContext } from "../http/index.ts";
import { ConsoleError } from "./errors.ts";

/** A header that a page of another origin can send only after a preflight request, which this server never allows. */
const consoleHeader = "x-transcribe-console";

/**
 * Refuses requests that another site's page makes the browser send. The browser sets `Sec-Fetch-Site` (W3C Fetch
 * Metadata). Without it, for example over plain HTTP, the `Origin` must be this server's; a request without both may
 * only read. A request for an address that the user typed in (`none`) may only read, too.
 * @throws {ConsoleError} 403
 */
export function requireSameOrigin(request: Request, { origin: ours }: Pick<RequestContext, "origin">): void {
  const isReading = request.method === "GET" || request.method === "HEAD";
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const isOurs = site === null ? (origin === null ? isReading : origin === ours) : isOwn(site, isReading);
  if (!isOurs) throw foreign("The request comes from another site.");
  if (!isReading && request.headers.get(consoleHeader) !== "1") {
    throw foreign(`The request does not come from the console: it lacks the header ${consoleHeader}.`);
  }
}

function isOwn(site: string, isReading: boolean): boolean {
  return site === "same-origin" || (site === "none" && isReading);
}

function foreign(message: string): ConsoleError {
  return new ConsoleError("not_from_here", message);
}
