import type { Store } from "../../database/index.ts";
import { contextOf } from "../../http/index.ts";
import type { Operator, Person, Reader } from "../../library/index.ts";
import { accountIdsOf, actorOf } from "../../users/index.ts";
import type { Access } from "../contract/index.ts";
import type { ConsoleSession, Sessions } from "./entry/index.ts";
import { ConsoleError } from "./errors.ts";

/** The session of a request, and how it was found. */
interface Admission {
  readonly session: ConsoleSession;
  readonly sessions: Sessions;
  readonly access: Access;
}

const admissions = new WeakMap<Request, Admission>();

const ranking: readonly Access[] = ["public", "reader", "member", "operator"];

/**
 * Finds the session of a request and records that it is used.
 * @param access what the route needs
 * @throws {ConsoleError} 401 without a session; 403 if the role is too low
 */
export function admit(request: Request, sessions: Sessions, access: Access): void {
  if (access === "public") return;
  const secret = cookieOf(request, SESSION_COOKIE);
  const session = secret === null ? null : sessions.use(secret);
  if (session === null) throw new ConsoleError("not_signed_in", "Sign in first.");
  if (ranking.indexOf(roleOf(session)) < ranking.indexOf(access)) {
    throw new ConsoleError("not_allowed", "Your role does not allow this. Ask the operator of the server.");
  }
  admissions.set(request, { session, sessions, access });
  contextOf(request).session = session.user?.id ?? session.hash;
}

/**
 * Checks session and role of an admitted request again, after it has waited: the person may have been signed out,
 * disabled or given another role meanwhile. A request of a public route has nothing to check.
 * @throws {ConsoleError} as `admit`
 */
export function admitAgain(request: Request): void {
  const admission = admissions.get(request);
  if (admission !== undefined) admit(request, admission.sessions, admission.access);
}

/** Returns the session of an admitted request. */
export function sessionOf(request: Request): ConsoleSession {
  const admission = admissions.get(request);
  if (admission === undefined) throw new Error("a route of the console was reached without a session");
  return admission.session;
}

/** Returns the role of the person of a session. A link and the operator's password make an operator. */
export function roleOf({ user }: ConsoleSession) {
  return user?.role ?? "operator";
}

/** A person who is signed in. */
export type SignedIn = Operator | Person;

/** Returns a person as the reader of transcripts in the console. */
export function readerOf({ actor }: SignedIn): Reader {
  return { actor, surface: "console" };
}

/** Returns the person who is signed in, with the accounts of this moment. */
export function viewerOf(request: Request, store: Store): SignedIn {
  const { actor, user } = sessionOf(request);
  if (user === null) return { kind: "operator", actor: `${actor} (console)` };
  if (user.role === "operator") return { kind: "operator", actor: actorOf(user) };
  return { kind: "person", role: user.role, actor: actorOf(user), accountIds: accountIdsOf(store, user) };
}

/**
 * Returns the operator who is signed in.
 * @throws {ConsoleError} 403 for any other person
 */
export function operatorOf(request: Request, store: Store): Operator {
  const viewer = viewerOf(request, store);
  if (viewer.kind === "operator") return viewer;
  throw new ConsoleError("not_allowed", "Only an operator may do this.");
}

/** Cookie with the secret of a session. See `nameFor` for the names over HTTPS. */
export const SESSION_COOKIE = "transcribe_console";
/** Cookie that identifies a device at the next sign-in, even after the person has signed out. */
export const DEVICE_COOKIE = "transcribe_console_device";
/** Cookie of a sign-in by the provider that has begun in this browser. */
export const BEGUN_COOKIE = "transcribe_console_sign_in";

/** Whether the browser uses HTTPS, as far as the server or a trusted proxy knows. */
const isOverHttps = (request: Request) => contextOf(request).origin.startsWith("https:");

/**
 * Returns the name of a cookie for a request. Over HTTPS it has the prefix `__Host-`: browsers accept such a cookie from
 * this host alone, over HTTPS, so that neither another host of the domain nor somebody on the way can plant one. Source:
 * RFC 6265bis, 4.1.3.2.
 */
function nameFor(request: Request, name: string): string {
  return isOverHttps(request) ? `__Host-${name}` : name;
}

/**
 * Returns the value of a request's cookie; null if it is missing. Names are compared to the letter, because a lenient
 * parser also finds the prefix where a browser has not seen it. Over HTTPS, a cookie without the prefix does not count.
 */
export function cookieOf(request: Request, name: string): string | null {
  const start = `${nameFor(request, name)}=`;
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.replace(/^ /, ""));
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? null;
}

/**
 * Returns a `Set-Cookie` value. Over plain HTTP, the cookie has no path, and so applies to the folder of the request that
 * set it (RFC 6265, 5.1.4). Here this is `/console/data` as the browser sees it, with any path prefix that a proxy adds.
 * Over HTTPS, the cookie's prefix demands the path `/`.
 * @param milliseconds lifetime; 0 deletes the cookie
 */
export function setCookie(request: Request, name: string, value: string, milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const secure = isOverHttps(request) ? "; Secure; Path=/" : "";
  return `${nameFor(request, name)}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
