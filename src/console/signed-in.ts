import type { Auditor } from "../accounts/index.ts";
import { sessionSecret } from "./cookie.ts";
import type { ConsoleSession, Sessions } from "./entry/index.ts";
import { ConsoleError } from "./errors.ts";

const sessionsOfRequests = new WeakMap<Request, ConsoleSession>();

/** Finds the session that a request belongs to, and counts it as used. @throws {ConsoleError} 401 without one */
export function requireSession(request: Request, sessions: Sessions): void {
  const secret = sessionSecret(request);
  const session = secret === null ? null : sessions.use(secret);
  if (session === null) throw new ConsoleError("not_signed_in", "Sign in first.");
  sessionsOfRequests.set(request, session);
}

/** The session of a request that has shown one. */
export function sessionOf(request: Request): ConsoleSession {
  const session = sessionsOfRequests.get(request);
  if (session === undefined) throw new Error("a route of the console was reached without a session");
  return session;
}

/** Who acts with a request, for the audit log: whoever made the link; after a password there is no name. */
export function consoleAuditor(request: Request, now: number): Auditor {
  return { actor: `${sessionOf(request).actor} (console)`, now };
}
