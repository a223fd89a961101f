import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { foldAscii, isEmailAddress } from "../../../text/index.ts";
import type { ClaimedUser } from "../../../users/index.ts";

/** The claims by which a provider's user is stored and found. Providers send others, too. */
const claimsSchema = Type.Object({
  iss: Type.String({ minLength: 1, maxLength: 2000 }),
  sub: Type.String(),
});
type Claims = Static<typeof claimsSchema> & Readonly<Record<string, unknown>>;

/**
 * A subject that can be stored. It has at most 255 characters (OpenID Connect Core 1.0, 2). A longer one cannot be cut,
 * because two people could have the same beginning, and SQLite would replace half a surrogate pair.
 */
const subject = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** Issuer of Google's ID tokens. */
const GOOGLE = "https://accounts.google.com";
/** Domains of the addresses that Google itself gives to people. */
const GOOGLE_DOMAINS: readonly string[] = ["gmail.com", "googlemail.com"];
/** Maximum number of groups that are used; directories have a few hundred for one person. */
const MAX_GROUPS = 5000;

/** Returns whether claims have what the rules need; otherwise the userinfo endpoint may have it. */
export function isComplete(claims: Readonly<Record<string, unknown>>, groupsClaim: string): boolean {
  return claims.email !== undefined && groupsIn(claims, groupsClaim) !== null;
}

/**
 * Adds the claims of the userinfo response to those of an ID token, which has precedence. The address and what the
 * provider says about it come from one of them: whether another address is verified says nothing about this one.
 */
export function mergeClaims(
  idToken: Readonly<Record<string, unknown>>,
  userinfo: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { email, email_verified, hd } = idToken.email === undefined ? userinfo : idToken;
  return { ...userinfo, ...idToken, email, email_verified, hd };
}

/**
 * Returns whether the provider left out the groups because they are too many for a token, as Entra ID does beyond 200.
 * Source: OpenID Connect Core 1.0, 5.6.2, distributed claims.
 */
export function hasTooManyGroups(claims: Readonly<Record<string, unknown>>, groupsClaim: string): boolean {
  const names = claims._claim_names;
  return typeof names === "object" && names !== null && groupsClaim in names;
}

/** Returns the person whom checked claims identify; null if they identify nobody in a form that can be stored. */
export function claimedUserOf(claims: Readonly<Record<string, unknown>>, groupsClaim: string): ClaimedUser | null {
  if (!identifies(claims)) return null;
  const address = textOf(claims.email);
  const email = address !== null && isEmailAddress(address) ? address : null;
  const isEmailVerified = email !== null && isVerified(claims, email);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    name: textOf(claims.name) ?? textOf(claims.preferred_username) ?? email ?? claims.sub,
    email,
    isEmailVerified,
    domain: isEmailVerified ? domainOf(claims, email) : null,
    groups: (groupsIn(claims, groupsClaim) ?? []).slice(0, MAX_GROUPS),
  };
}

function identifies(claims: Readonly<Record<string, unknown>>): claims is Claims {
  return Value.Check(claimsSchema, claims) && subject.test(claims.sub);
}

/**
 * Returns whether the provider vouches that an address is the person's. Anybody can have a Google account with an address
 * of another domain, and keep it after losing the address. Google vouches for its own addresses, and for those of
 * organizations (`hd`). Source: Google, "Verify the Google ID token on your server side".
 */
function isVerified(claims: Claims, email: string): boolean {
  // Some providers send the boolean as a text.
  if (claims.email_verified !== true && claims.email_verified !== "true") return false;
  return claims.iss !== GOOGLE || textOf(claims.hd) !== null || GOOGLE_DOMAINS.includes(domainIn(email));
}

/** Returns the domain of an address; for Google it is the organization's, which the claim `hd` has. */
function domainOf(claims: Claims, email: string): string | null {
  if (claims.iss !== GOOGLE) return domainIn(email);
  const domain = textOf(claims.hd);
  return domain === null ? null : foldAscii(domain);
}

function domainIn(email: string): string {
  return foldAscii(email.slice(email.lastIndexOf("@") + 1));
}

/** Returns the groups of a claim, which may be a single text; null if there is no such claim. */
function groupsIn(claims: Readonly<Record<string, unknown>>, path: string): string[] | null {
  const value = valueAt(claims, path);
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((group) => typeof group === "string") : null;
}

/** Returns the value of a claim by its name, or by the names of nested claims with dots between them. */
function valueAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return Reflect.get(claims, path);
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/**
 * Returns the end of the session as the provider states it, in whole milliseconds since the epoch; null if it states none.
 * Source: the claim `session_expiry` of OpenID Connect Enterprise Extensions 1.0.
 */
export function sessionEndOf({ session_expiry: seconds }: Readonly<Record<string, unknown>>): number | null {
  if (typeof seconds !== "number") return null;
  return Math.floor(Math.min(Math.max(0, seconds * 1000), Number.MAX_SAFE_INTEGER));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
