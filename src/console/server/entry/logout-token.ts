import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type JWTVerifyGetKey, jwtVerify } from "jose";
import { ConsoleError } from "../errors.ts";

/** The sessions that a provider ends: one of them, or all of a person. */
export interface LogoutNotice {
  readonly issuer: string;
  /** Null if the token names the session alone. */
  readonly subject: string | null;
  /** Id of the session at the provider; null for all of the person's sessions. */
  readonly providerSession: string | null;
}

/** Maximum age of a token, which the provider sends at once. */
const MAX_AGE_SECONDS = 300;

const logoutSchema = Type.Object({
  iss: Type.String(),
  sub: Type.Optional(Type.String({ minLength: 1 })),
  sid: Type.Optional(Type.String({ minLength: 1 })),
  jti: Type.String({ minLength: 1 }),
  // An object, not null or a list: OpenID Connect Back-Channel Logout 1.0, 2.4.
  events: Type.Object({ "http://schemas.openid.net/event/backchannel-logout": Type.Object({}) }),
  nonce: Type.Optional(Type.Never()),
});

interface Expected {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  readonly audience: string;
  /** Algorithms that the provider signs with. Only those with a public key count. */
  readonly algorithms: readonly string[];
  readonly toleranceSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Checks a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6): signature, issuer, audience, age, the event, and
 * that it is no ID token. A token that arrives twice ends the same sessions, so its `jti` is not remembered.
 * @throws {ConsoleError} if it is not valid; an error of `jose` for its signature, times, issuer or audience
 */
export async function readLogoutToken(
  token: string,
  { keys, issuer, audience, algorithms, toleranceSeconds, now }: Expected,
): Promise<LogoutNotice> {
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience,
    algorithms: algorithms.filter((name) => /^(?:RS|PS|ES)\d{3}$|^Ed/.test(name)),
    clockTolerance: toleranceSeconds,
    maxTokenAge: MAX_AGE_SECONDS,
    currentDate: new Date(now),
  });
  const isLogout = Value.Check(logoutSchema, payload) && (payload.sub !== undefined || payload.sid !== undefined);
  if (!isLogout) throw new ConsoleError("bad_request", "This is not a logout token.");
  return { issuer: payload.iss, subject: payload.sub ?? null, providerSession: payload.sid ?? null };
}
