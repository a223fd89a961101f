import { createHash } from "node:crypto";
import { timestamp } from "../../../api-contract/index.ts";
import { contextOf } from "../../../http/index.ts";
import { programVersion } from "../../../program/index.ts";
import { enterClaimedUser, findLocalUser, hasLocalUsers, isPasswordOf } from "../../../users/index.ts";
import type { Session, SignInRequest, sessionRoutes } from "../../contract/index.ts";
import { Attempts } from "../attempts.ts";
import type { Handlers } from "../data-routes.ts";
import {
  type ConsoleSession,
  createDevice,
  deviceOf,
  type OpenedSession,
  passwordHash,
  rulesMark,
  type Sessions,
  type SignInProvider,
} from "../entry/index.ts";
import { ConsoleError } from "../errors.ts";
import {
  BEGUN_COOKIE,
  cookieOf,
  DEVICE_COOKIE,
  roleOf,
  SESSION_COOKIE,
  sessionOf,
  setCookie,
} from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

/** A session that was opened, and the hash of the password that opened it, if one did. */
interface Entered extends OpenedSession {
  readonly passwordHash: string | null;
}

/** Creates the handlers to sign in and to sign out. */
export function sessionHandlers(
  services: ConsoleServices,
  sessions: Sessions,
  provider: SignInProvider,
): Handlers<typeof sessionRoutes> {
  const { store, settings, log, now } = services;
  const attempts = new Attempts(now);
  /** Hash of the operator's password; null if none is set, or the password is switched off. */
  const operatorHash = () => (settings().console.operator_password ? passwordHash(store) : null);

  const attempt = (request: Request, hash: string | null, user: string | null, check: () => Promise<boolean>) => {
    const cookie = cookieOf(request, DEVICE_COOKIE);
    const device = cookie === null || hash === null ? null : deviceOf(hash, cookie, now());
    return attempts.check({ client: contextOf(request).client, device, user }, check);
  };

  const enterByLink = (token: string): Entered => {
    const opened = sessions.enterByLink(token);
    if (opened !== null) return { ...opened, passwordHash: passwordHash(store) };
    throw new ConsoleError(
      "link_not_valid",
      "This link was already used, or is older than ten minutes. Create another: transcribe console.",
    );
  };

  const enterByPassword = async (request: Request, password: string): Promise<Entered> => {
    const hash = operatorHash();
    const isRight = await attempt(request, hash, null, async () => hash !== null && isPasswordOf(hash, password));
    // Another password may have been set, or the password switched off, while this one was checked.
    const isCurrent = operatorHash() === hash;
    if (isRight && isCurrent) return { ...sessions.enterByPassword(), passwordHash: hash };
    throw new ConsoleError("password_not_valid", "This is not the operator's password.");
  };

  const enterAsUser = async (request: Request, email: string, password: string): Promise<Entered> => {
    const found = findLocalUser(store, email);
    const hash = found?.hash ?? null;
    const user = createHash("sha256").update(email.trim().toLowerCase()).digest("hex");
    const isRight = await attempt(request, hash, user, () => isPasswordOf(hash, password));
    // Another password may have been set while this one was checked.
    const isCurrent = found !== null && findLocalUser(store, email)?.hash === hash;
    const opened = isRight && isCurrent ? sessions.enterAsUser(found.user) : null;
    if (opened !== null) return { ...opened, passwordHash: hash };
    // The same text for an unknown address, a wrong password and a disabled user.
    throw new ConsoleError("user_not_valid", "The address or the password is not right.");
  };

  const enterByProvider = async (request: Request, query: string): Promise<Entered> => {
    const rules = rulesMark(settings().oidc);
    const { addressGroup } = contextOf(request).client;
    const signIn = await provider.finish(query, cookieOf(request, BEGUN_COOKIE), addressGroup);
    // From here on, nothing waits: a logout either finds the session, or is known here.
    if (provider.isLoggedOut(signIn)) {
      throw new ConsoleError("sign_in_failed", "You have signed out at the provider meanwhile. Sign in again.");
    }
    const { user, unknownAccounts } = enterClaimedUser(store, signIn.claimed, signIn.grant, now());
    if (signIn.grant === null) throw new ConsoleError("sign_in_failed", signIn.refusal);
    if (unknownAccounts.length > 0) log.warn({ event: "console.unknown_accounts", accounts: unknownAccounts });
    if (user === null) {
      throw new ConsoleError("sign_in_failed", "The accounts that you would see do not exist. Ask the operator.");
    }
    const ends = [now() + settings().oidc.session_minutes * 60_000, ...(signIn.endsAt === null ? [] : [signIn.endsAt])];
    const opened = sessions.enterByProvider(user, { ...signIn, rules, endsAt: Math.min(...ends) });
    if (opened !== null) return { ...opened, passwordHash: null };
    throw new ConsoleError("sign_in_failed", "The operator of this server has disabled your access.");
  };

  const signIn = (request: Request, body: SignInRequest): Entered | Promise<Entered> => {
    if ("token" in body) return enterByLink(body.token);
    if ("provider_query" in body) return enterByProvider(request, body.provider_query);
    if ("email" in body) return enterAsUser(request, body.email, body.password);
    return enterByPassword(request, body.password);
  };

  return {
    signInMethods: () => ({
      provider: provider.name,
      users: hasLocalUsers(store),
      password: operatorHash() !== null,
    }),

    session: ({ request }) => showSession(sessionOf(request), settings().live.enabled),

    async signIn({ request, body, headers }) {
      const { session, secret, passwordHash: hash } = await signIn(request, body);
      const device = hash === null ? null : createDevice(hash, now());
      const cookies = [setCookie(request, SESSION_COOKIE, secret, session.endsAt - now())];
      if (device !== null) cookies.push(setCookie(request, DEVICE_COOKIE, device.value, device.expiresAt - now()));
      if (session.enteredBy === "provider") cookies.push(setCookie(request, BEGUN_COOKIE, "", 0));
      headers["set-cookie"] = cookies;
      const { requestId, client } = contextOf(request);
      log.info({ event: "console.entered", requestId, by: session.enteredBy, address: client.address });
      return showSession(session, settings().live.enabled);
    },

    async beginProviderSignIn({ request, body: { page }, headers }) {
      requireOwnPage(request, page);
      const { location, cookie, milliseconds } = await provider.begin(page);
      headers["set-cookie"] = setCookie(request, BEGUN_COOKIE, cookie, milliseconds);
      return { location };
    },

    async signOut({ request, query: { page = "" }, headers }) {
      const session = sessionOf(request);
      sessions.end(session);
      headers["set-cookie"] = setCookie(request, SESSION_COOKIE, "", 0);
      // A page with another address signs out as well.
      const leavesProvider = session.enteredBy === "provider" && isOwnPage(request, page);
      return { location: leavesProvider ? await provider.signOutAddress(page) : null };
    },
  };
}

/**
 * Returns whether an address is one of the console's page, to which the provider may return. The page sends it, because
 * only the browser knows the path prefix that a proxy adds. The provider also checks it against the registered ones.
 */
function isOwnPage(request: Request, page: string): boolean {
  const url = URL.parse(page);
  if (url === null || url.href !== page || url.origin !== contextOf(request).origin) return false;
  return url.pathname.endsWith("/console/") && url.href === `${url.origin}${url.pathname}`;
}

/** @throws {ConsoleError} 422 for an address of another server */
function requireOwnPage(request: Request, page: string): void {
  const { origin } = contextOf(request);
  if (isOwnPage(request, page)) return;
  throw new ConsoleError(
    "validation_failed",
    `The page has another address than the server, ${origin}. Behind a proxy, the settings server.trusted_proxies and server.hosts name the proxy and the address.`,
    { field: "page" },
  );
}

function showSession(session: ConsoleSession, live: boolean): Session {
  const { enteredBy, user, enteredAt, endsAt, idleEndsAt } = session;
  return {
    entered_by: enteredBy,
    role: roleOf(session),
    user: user === null ? null : { name: user.name, email: user.email },
    entered_at: timestamp(enteredAt),
    ends_at: timestamp(endsAt),
    idle_ends_at: timestamp(Math.min(endsAt, idleEndsAt)),
    version: programVersion,
    live,
  };
}
