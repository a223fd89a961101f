import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { stepSchema } from "../../recordings/index.ts";

/** Returns a schema that also accepts null, for a value that may be missing. The property itself is never left out. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** ISO 8601 with milliseconds and an explicit offset, as in the API. */
export const timeSchema = Type.String({ format: "date-time" });

export const countSchema = Type.Integer({ minimum: 0 });
export const bytesSchema = Type.Number({ minimum: 0 });
export const secondsSchema = Type.Number({ minimum: 0 });

/** An account or a workspace, reduced to its id and name. */
export const namedSchema = Type.Object({ id: Type.String(), name: Type.String() });
export type Named = Static<typeof namedSchema>;

/**
 * A range in a text, in UTF-16 code units as JavaScript counts them: from and to. `from < to`; ranges are sorted and do
 * not overlap.
 */
export const markSchema = Type.Tuple([countSchema, countSchema]);
export type Mark = Static<typeof markSchema>;

/** Progress of a recording. `indeterminate`: the current step cannot be measured. */
export const progressSchema = Type.Object({
  step: nullable(stepSchema),
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  indeterminate: Type.Boolean(),
});

/** Body of an error response: a code for the page, and a message that the page shows unchanged. */
export const errorSchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    /** The part of the request that is not valid, if it is a single part. */
    field: nullable(Type.String()),
    /** Seconds until the next attempt may succeed, if known. */
    retry_after_seconds: nullable(countSchema),
  }),
});
export type ConsoleErrorBody = Static<typeof errorSchema>;

const passwordSchema = Type.String({ minLength: 1, maxLength: 1024 });

/**
 * POST session: the token of a one-time link; the operator's password; the address and password of a user; or the query
 * with which the sign-in provider sent the browser back. The response contains the session and sets its cookie.
 */
export const signInRequestSchema = Type.Union([
  Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
  Type.Object({ password: passwordSchema }, { additionalProperties: false }),
  Type.Object(
    { email: Type.String({ minLength: 1, maxLength: 320 }), password: passwordSchema },
    { additionalProperties: false },
  ),
  Type.Object({ provider_query: Type.String({ minLength: 1, maxLength: 16_384 }) }, { additionalProperties: false }),
]);
export type SignInRequest = Static<typeof signInRequestSchema>;

/** Address of the page, `…/console/` with any path prefix that a proxy adds, to which the sign-in provider returns. */
export const pageAddressSchema = Type.String({ minLength: 1, maxLength: 2000 });

/** POST provider-sign-in, without a session: begins a sign-in by the provider. */
export const providerSignInSchema = Type.Object({ page: pageAddressSchema }, { additionalProperties: false });

/** Response to POST provider-sign-in: the address to which the page sends the browser. */
export const providerAddressSchema = Type.Object({ location: Type.String() });
export type ProviderAddress = Static<typeof providerAddressSchema>;

/** DELETE session?page=: the address at which the person signs out of the provider, too; null if there is none. */
export const signedOutSchema = Type.Object({ location: nullable(Type.String()) });
export type SignedOut = Static<typeof signedOutSchema>;

/** A person's role: may do everything; sees and changes the recordings of some accounts; sees them. */
const roleSchema = Type.Union([Type.Literal("operator"), Type.Literal("member"), Type.Literal("reader")]);

/** GET session and POST session; 401 `not_signed_in` without one. */
export const sessionSchema = Type.Object({
  entered_by: Type.Union([
    Type.Literal("link"),
    Type.Literal("password"),
    Type.Literal("user"),
    Type.Literal("provider"),
  ]),
  role: roleSchema,
  /** The user who is signed in; null for an operator who entered by a link or the operator's password. */
  user: nullable(Type.Object({ name: Type.String(), email: nullable(Type.String()) })),
  entered_at: timeSchema,
  /** End of the session in any case, and its end if the session is not used. */
  ends_at: timeSchema,
  idle_ends_at: timeSchema,
  /** Version of the program. */
  version: Type.String(),
});
export type Session = Static<typeof sessionSchema>;

/** GET sign-in-methods, without a session: the available ways to sign in. */
export const signInMethodsSchema = Type.Object({
  /** The sign-in provider, by its name; null without one. */
  provider: nullable(Type.String()),
  /** Whether there are users with a password. */
  users: Type.Boolean(),
  /** Whether the operator's password signs in. */
  password: Type.Boolean(),
});
export type SignInMethods = Static<typeof signInMethodsSchema>;

/** GET upload-options: the choices in the form for a new recording, and the accounts by which the list is filtered. */
export const uploadOptionsSchema = Type.Object({
  /**
   * Accounts that may create recordings and that the person sees, by name, with up to 1,000 workspaces each. They take
   * at most 2 MiB, which is enough for some 20,000 accounts.
   */
  accounts: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), workspaces: Type.Array(namedSchema) })),
  /** Languages that the current model accepts, by code. */
  languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  max_bytes: bytesSchema,
  /** Whether the server fetches links. */
  links: Type.Boolean(),
});
export type UploadOptions = Static<typeof uploadOptionsSchema>;
