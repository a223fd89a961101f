import type { Auditor } from "../accounts/index.ts";
import type { ConsoleSession, KnownDevice, Sessions } from "./entry/index.ts";
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

const sessionName = "transcribe_console";
const deviceName = "transcribe_console_device";

/** Returns the session secret in a request's cookie; null if the cookie is missing. */
export function sessionSecret(request: Request): string | null {
  return cookieOf(request, sessionName);
}

/** Returns the cookie of a device on which the operator has signed in before; null if the cookie is missing. */
export function deviceCookieOf(request: Request): string | null {
  return cookieOf(request, deviceName);
}

/**
 * Returns the `Set-Cookie` value for a session. A cookie without a path applies to the folder of the request that set
 * it (RFC 6265, 5.1.4). Here this is `/console/data` as the browser sees it, with any path prefix that a proxy adds.
 * @param isSecure whether the browser uses HTTPS
 */
export function sessionCookie(secret: string, { endsAt }: ConsoleSession, now: number, isSecure: boolean): string {
  return cookie(sessionName, secret, endsAt - now, isSecure);
}

/**
 * Returns the `Set-Cookie` value that identifies a device at the next sign-in, even after the operator has signed out.
 */
export function deviceCookie({ value, expiresAt }: KnownDevice, now: number, isSecure: boolean): string {
  return cookie(deviceName, value, expiresAt - now, isSecure);
}

/** Returns the `Set-Cookie` value that deletes the session cookie in the browser. */
export function noCookie(isSecure: boolean): string {
  return cookie(sessionName, "", 0, isSecure);
}

function cookieOf(request: Request, name: string): string | null {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
}

function cookie(name: string, value: string, milliseconds: number, isSecure: boolean): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}
