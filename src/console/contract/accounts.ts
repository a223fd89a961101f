import { type Static, Type } from "@sinclair/typebox";
import { values } from "../../database/index.ts";
import { scopes } from "../../keys/index.ts";
import { MAX_RETENTION_DAYS } from "../../library/index.ts";
import type { Routes } from "./route.ts";
import { countSchema, cursorSchema, limitSchema, namedSchema, nullable, timeSchema } from "./shared.ts";

const scopeSchema = Type.Union(scopes.map((scope) => Type.Literal(scope)));

export const keySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** First characters, to recognize the key. */
  hint: Type.String(),
  state: Type.Union([Type.Literal("active"), Type.Literal("expired"), Type.Literal("revoked")]),
  scopes: Type.Array(scopeSchema),
  /** The only workspace that the key can access; null: all workspaces of its account. */
  workspace: nullable(namedSchema),
  created_at: timeSchema,
  expires_at: nullable(timeSchema),
  revoked_at: nullable(timeSchema),
  last_used_at: nullable(timeSchema),
});
export type Key = Static<typeof keySchema>;

const usageSchema = Type.Object({ used: Type.Number({ minimum: 0 }), limit: countSchema });

const daysSchema = Type.Integer({ minimum: 0, maximum: MAX_RETENTION_DAYS });
/** Days of an account's own retention; null for those of the settings. */
const ownRetentionSchema = Type.Object(
  { audio_days: nullable(daysSchema), completed_days: nullable(daysSchema) },
  { additionalProperties: false },
);

export const retentionSchema = Type.Object({
  own: ownRetentionSchema,
  /** Days of the settings, for accounts without their own. */
  server: Type.Object({ audio_days: daysSchema, completed_days: daysSchema }),
});
export type Retention = Static<typeof retentionSchema>;

const accountSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  standing: Type.Union(values.standings.map((standing) => Type.Literal(standing))),
  /** End of the subscription, in the past or in the future; null: it has no end. */
  subscribed_until: nullable(timeSchema),
  priority: Type.Integer(),
  created_at: timeSchema,
  usage: Type.Object({
    /** Usage on the current UTC day. */
    audio_minutes_per_day: usageSchema,
    recordings_per_account: usageSchema,
    creates_per_hour: usageSchema,
    creates_per_day: usageSchema,
  }),
  requests_per_minute: countSchema,
  retention: retentionSchema,
  /** Oldest first; at most 1,000. */
  workspaces: Type.Array(namedSchema),
  /** Number of voices that the account remembers; null if it does not remember voices. */
  voices: nullable(countSchema),
  /** Number of words that its transcripts always write in one way. */
  replacements: countSchema,
  /** Number of webhooks of the account. */
  webhooks: countSchema,
  /** Oldest first; at most 500. */
  keys: Type.Array(keySchema),
  /** Number of further keys, most of them revoked. */
  hidden_keys: countSchema,
});
export type Account = Static<typeof accountSchema>;

export const accountPageSchema = Type.Object({
  accounts: Type.Array(accountSchema),
  /** All scopes that a key may have. */
  scopes: Type.Array(scopeSchema),
  next_cursor: nullable(Type.String()),
});
export type AccountPage = Static<typeof accountPageSchema>;

export const createdKeySchema = Type.Object({ key: keySchema, secret: Type.String() });

/** Accounts with their usage, and their keys. */
export const accountRoutes = {
  /** Oldest first. */
  accounts: {
    at: "GET /accounts",
    access: "operator",
    query: Type.Object({ cursor: cursorSchema, limit: limitSchema(100, 50) }),
    answer: accountPageSchema,
  },
  /** A key that is created without scopes has those of version 1 of the API. Only this response contains the key's secret. */
  createKey: {
    at: "POST /keys",
    access: "operator",
    body: Type.Object(
      {
        account: Type.String(),
        name: Type.String({ minLength: 1, maxLength: 100 }),
        workspace: Type.Optional(nullable(Type.String())),
        scopes: Type.Optional(Type.Array(scopeSchema, { minItems: 1, uniqueItems: true })),
        expires_in_days: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 3650 }))),
      },
      { additionalProperties: false },
    ),
    answer: createdKeySchema,
    status: 201,
  },
  /** Sets the account's own retention, which the server applies within an hour. */
  setRetention: {
    at: "PUT /accounts/:id/retention",
    access: "operator",
    body: ownRetentionSchema,
    answer: retentionSchema,
  },
  /** Returns the revoked key. */
  revokeKey: { at: "DELETE /keys/:id", access: "operator", answer: keySchema },
} as const satisfies Routes;
