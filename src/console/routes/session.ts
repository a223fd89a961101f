import { Elysia } from "elysia";
import { timestamp } from "../../api/index.ts";
import { contextOf } from "../../http/index.ts";
import { programVersion } from "../../program/index.ts";
import { Attempts } from "../attempts.ts";
import { type Session, sessionSchema, signInMethodsSchema, signInRequestSchema } from "../contract/shared.ts";
import {
  type ConsoleSession,
  createDevice,
  deviceOf,
  hasPassword,
  isPassword,
  type OpenedSession,
  type Sessions,
} from "../entry/index.ts";
import { ConsoleError } from "../errors.ts";
import { readBody } from "../read-body.ts";
import { cookieOf, DEVICE_COOKIE, SESSION_COOKIE, sessionOf, setCookie } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

/** Creates the routes to sign in, with a link or the password, and to sign out. */
export function sessionRoutes({ store, log, now }: ConsoleServices, sessions: Sessions) {
  const attempts = new Attempts(now);

  const signIn = async (request: Request): Promise<OpenedSession> => {
    const body = await readBody(request, signInRequestSchema);
    if ("token" in body) {
      const opened = sessions.enterByLink(body.token);
      if (opened !== null) return opened;
      throw new ConsoleError(
        "link_not_valid",
        "This link was already used, or is older than ten minutes. Create another: transcribe console.",
      );
    }
    const deviceCookie = cookieOf(request, DEVICE_COOKIE);
    const attempter = {
      client: contextOf(request).client,
      device: deviceCookie === null ? null : deviceOf(store, deviceCookie, now()),
    };
    if (await attempts.check(attempter, () => isPassword(store, body.password))) return sessions.enterByPassword();
    throw new ConsoleError("password_not_valid", "This is not the operator's password.");
  };

  return new Elysia({ name: "console-session" })
    .get("/sign-in-methods", () => ({ password: hasPassword(store) }), { response: { 200: signInMethodsSchema } })
    .get("/session", ({ request }) => showSession(sessionOf(request)), { response: { 200: sessionSchema } })
    .post(
      "/session",
      async ({ request, set }) => {
        const { session, secret } = await signIn(request);
        const device = createDevice(store, now());
        const cookies = [setCookie(request, SESSION_COOKIE, secret, session.endsAt - now())];
        if (device !== null) cookies.push(setCookie(request, DEVICE_COOKIE, device.value, device.expiresAt - now()));
        set.headers["set-cookie"] = cookies;
        const { requestId, client } = contextOf(request);
        log.info({ event: "console.entered", requestId, by: session.enteredBy, address: client.address });
        return showSession(session);
      },
      { parse: "none", response: { 200: sessionSchema } },
    )
    .delete("/session", ({ request }) => {
      sessions.end(sessionOf(request));
      return new Response(null, { status: 204, headers: { "Set-Cookie": setCookie(request, SESSION_COOKIE, "", 0) } });
    });
}

function showSession({ enteredBy, enteredAt, endsAt, idleEndsAt }: ConsoleSession): Session {
  return {
    entered_by: enteredBy,
    entered_at: timestamp(enteredAt),
    ends_at: timestamp(endsAt),
    idle_ends_at: timestamp(Math.min(endsAt, idleEndsAt)),
    version: programVersion,
  };
}
