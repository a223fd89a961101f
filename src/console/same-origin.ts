import type { RequestContext } from "../http/index.ts";
import { ConsoleError } from "./errors.ts";

/** A header that no page elsewhere can send without asking the server first, which never allows it. */
const consoleHeader = "x-transcribe-console";

/**
 * Refuses what another site's page has the browser send. `Sec-Fetch-Site` (W3C Fetch Metadata) is the browser's own word;
 * where it is missing, as over plain HTTP, the `Origin` must be this server's, without which nothing is changed. An address
 * that is typed in, `none`, may read.
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
