import { type Static, Type } from "@sinclair/typebox";
import { bytesSchema, namedSchema, timeSchema } from "./shared.ts";

/**
 * POST session: the token of a one-time link, or the operator's password. The response contains the session and sets
 * its cookie.
 */
export const enterSchema = Type.Union([
  Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
  Type.Object({ password: Type.String({ minLength: 1, maxLength: 1024 }) }, { additionalProperties: false }),
]);
export type Enter = Static<typeof enterSchema>;

/** GET session and POST session; 401 `not_signed_in` without one. DELETE session: 204. */
export const sessionSchema = Type.Object({
  entered_by: Type.Union([Type.Literal("link"), Type.Literal("password")]),
  entered_at: timeSchema,
  /** End of the session in any case, and its end if the session is not used. */
  ends_at: timeSchema,
  idle_ends_at: timeSchema,
  /** Version of the program. */
  version: Type.String(),
});
export type Session = Static<typeof sessionSchema>;

/** GET entrance, without a session: the available ways to sign in. */
export const entranceSchema = Type.Object({ password: Type.Boolean() });
export type Entrance = Static<typeof entranceSchema>;

/** GET upload-options: the choices in the form for a new recording. */
export const uploadOptionsSchema = Type.Object({
  /** Accounts that may create recordings, by name, with their workspaces. */
  accounts: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), workspaces: Type.Array(namedSchema) })),
  /** Languages that the current model accepts, by code. */
  languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  most_bytes: bytesSchema,
  /** Whether the server fetches links. */
  links: Type.Boolean(),
});
export type UploadOptions = Static<typeof uploadOptionsSchema>;
