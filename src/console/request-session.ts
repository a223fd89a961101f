import { contextOf } from "../http/index.ts";
import type { Operator } from "../library/index.ts";
import type { ConsoleSession, Sessions } from "./entry/index.ts";
import { ConsoleError } from "./errors.ts";

const sessionsOfRequests = new WeakMap<Request, ConsoleSession>();

/**
 * Finds the session of a request and records that it is used.
 * @throws {ConsoleError} 401 without a session
 */
export function requireSession(request: Request, sessions: Sessions): void {
  const secret = cookieOf(request, SESSION_COOKIE);
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

/** Returns the person who is signed in: the creator of the sign-in link, or `password`. */
export function operatorOf(request: Request): Operator {
  return { kind: "operator", actor: `${sessionOf(request).actor} (console)` };
}

/** Cookie with the secret of a session. */
export const SESSION_COOKIE = "transcribe_console";
/** Cookie that identifies a device at the next sign-in, even after the operator has signed out. */
export const DEVICE_COOKIE = "transcribe_console_device";

/** Returns the value of a request's cookie; null if it is missing. */
export function cookieOf(request: Request, name: string): string | null {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
}

/**
 * Returns a `Set-Cookie` value. A cookie without a path applies to the folder of the request that set it (RFC 6265,
 * 5.1.4). Here this is `/console/data` as the browser sees it, with any path prefix that a proxy adds.
 * @param milliseconds lifetime; 0 deletes the cookie
 */
export function setCookie(request: Request, name: string, value: string, milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const secure = contextOf(request).origin.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
