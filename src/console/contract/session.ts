import { type Static, Type } from "@sinclair/typebox";
import { bytesSchema, namedSchema, timeSchema } from "./shared.ts";

/** POST session: the token of a one-time link, or the operator's password. The answer is a session, and the cookie with it. */
export const enterSchema = Type.Union([
  Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
  Type.Object({ password: Type.String({ minLength: 1, maxLength: 1024 }) }, { additionalProperties: false }),
]);
export type Enter = Static<typeof enterSchema>;

/** GET session and POST session; 401 `not_signed_in` without one. DELETE session: 204. */
export const sessionSchema = Type.Object({
  entered_by: Type.Union([Type.Literal("link"), Type.Literal("password")]),
  entered_at: timeSchema,
  /** When it ends whatever is done, and when it ends if nothing is done. */
  ends_at: timeSchema,
  idle_ends_at: timeSchema,
  /** Of the program. */
  version: Type.String(),
});
export type Session = Static<typeof sessionSchema>;

/** GET entrance, without a session: which ways in there are. */
export const entranceSchema = Type.Object({ password: Type.Boolean() });
export type Entrance = Static<typeof entranceSchema>;

/** GET upload-options: what a form for a new recording offers. */
export const uploadOptionsSchema = Type.Object({
  /** Accounts that may send recordings, with their workspaces, by name. */
  accounts: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), workspaces: Type.Array(namedSchema) })),
  /** What the model in use accepts, by code. */
  languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  most_bytes: bytesSchema,
  /** Whether the server fetches links. */
  links: Type.Boolean(),
});
export type UploadOptions = Static<typeof uploadOptionsSchema>;
