import { type Static, Type } from "@sinclair/typebox";
import type { Routes } from "./route.ts";
import { nullable, timeSchema } from "./shared.ts";

const passwordSchema = Type.String({ minLength: 1, maxLength: 1024 });

/**
 * The token of a one-time link; the operator's password; the address and password of a user; or the query with which the
 * sign-in provider sent the browser back.
 */
const signInSchema = Type.Union([
  Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
  Type.Object({ password: passwordSchema }, { additionalProperties: false }),
  Type.Object(
    { email: Type.String({ minLength: 1, maxLength: 320 }), password: passwordSchema },
    { additionalProperties: false },
  ),
  Type.Object({ provider_query: Type.String({ minLength: 1, maxLength: 16_384 }) }, { additionalProperties: false }),
]);
export type SignInRequest = Static<typeof signInSchema>;

/** Address of the page, `…/console/` with any path prefix that a proxy adds, to which the sign-in provider returns. */
const pageAddressSchema = Type.String({ minLength: 1, maxLength: 2000 });

export const sessionSchema = Type.Object({
  entered_by: Type.Union([
    Type.Literal("link"),
    Type.Literal("password"),
    Type.Literal("user"),
    Type.Literal("provider"),
  ]),
  /** May do everything; sees and changes the recordings of some accounts; sees them. */
  role: Type.Union([Type.Literal("operator"), Type.Literal("member"), Type.Literal("reader")]),
  /** The user who is signed in; null for an operator who entered by a link or the operator's password. */
  user: nullable(Type.Object({ name: Type.String(), email: nullable(Type.String()) })),
  entered_at: timeSchema,
  /** End of the session in any case, and its end if the session is not used. */
  ends_at: timeSchema,
  idle_ends_at: timeSchema,
  /** Version of the program. */
  version: Type.String(),
  /** Whether the server transcribes while people speak. */
  live: Type.Boolean(),
});
export type Session = Static<typeof sessionSchema>;

/** The available ways to sign in. */
export const signInMethodsSchema = Type.Object({
  /** The sign-in provider, by its name; null without one. */
  provider: nullable(Type.String()),
  /** Whether there are users with a password. */
  users: Type.Boolean(),
  /** Whether the operator's password signs in. */
  password: Type.Boolean(),
});

/** Signing in and out. */
export const sessionRoutes = {
  signInMethods: { at: "GET /sign-in-methods", access: "public", answer: signInMethodsSchema },
  /** Sets the session's cookie. */
  signIn: { at: "POST /session", access: "public", body: signInSchema, answer: sessionSchema },
  /** Begins a sign-in by the provider. The response has the address to which the page sends the browser. */
  beginProviderSignIn: {
    at: "POST /provider-sign-in",
    access: "public",
    body: Type.Object({ page: pageAddressSchema }, { additionalProperties: false }),
    answer: Type.Object({ location: Type.String() }),
  },
  /** 401 `not_signed_in` without a session. */
  session: { at: "GET /session", access: "reader", answer: sessionSchema },
  /** The response has the address at which the person signs out of the provider, too; null if there is none. */
  signOut: {
    at: "DELETE /session",
    access: "reader",
    query: Type.Object({ page: Type.Optional(pageAddressSchema) }),
    answer: Type.Object({ location: nullable(Type.String()) }),
  },
} as const satisfies Routes;
