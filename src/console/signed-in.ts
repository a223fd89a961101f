import type { Auditor } from "../accounts/index.ts";
import { sessionSecret } from "./cookie.ts";
import type { ConsoleSession, Sessions } from "./entry/index.ts";
import { ConsoleError } from "./errors.ts";

const sessionsOfRequests = new WeakMap<Request, ConsoleSession>();

/**
 * Finds the session of a request and records that it is used.
 * @throws {ConsoleError} 401 without a session
 */
export function requireSession(request: Request, sessions: Sessions): void {
  const secret = sessionSecret(request);
  const session = secret === null ? null : sessions.use(secret);
  if (session === null) throw new ConsoleError("not_signed_in", "Sign in first.");
  sessionsOfRequests.set(request, session);
}

/** Returns the session that requireSession found for a request. */
export function sessionOf(request: Request): ConsoleSession {
  const session = sessionsOfRequests.get(request);
  if (session === undefined) throw new Error("a route of the console was reached without a session");
  return session;
}

/**
 * Returns the actor of a request for the audit log: the creator of the sign-in link. A session opened with the password
 * has no personal name.
 */
export function consoleAuditor(request: Request, now: number): Auditor {
  return { actor: `${sessionOf(request).actor} (console)`, now };
}
