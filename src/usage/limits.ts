import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";

const amount = Type.Optional(Type.Integer({ minimum: 0 }));

/** Limits of one account that override the limits of the same names in the settings. */
const accountLimitsSchema = Type.Object(
  {
    audio_minutes_per_day: amount,
    recordings_per_account: amount,
    live_sessions_per_account: amount,
    creates_per_hour: amount,
    creates_per_day: amount,
    requests_per_minute: amount,
  } satisfies { readonly [N in keyof Settings["limits"]]?: typeof amount },
  { additionalProperties: false },
);
export type AccountLimits = Static<typeof accountLimitsSchema>;
type LimitName = keyof AccountLimits;
export const limitNames = Object.keys(accountLimitsSchema.properties) as LimitName[];

/** Parses the limits stored in an account's row. */
export function parseAccountLimits(json: string): AccountLimits {
  const parsed: unknown = JSON.parse(json);
  if (!Value.Check(accountLimitsSchema, parsed)) throw new Error("an account's limits in the database can't be read");
  return parsed;
}

/** Serializes limits for an account's row. @throws {Error} for limits that parseAccountLimits would reject */
export function formatAccountLimits(limits: AccountLimits): string {
  const json = JSON.stringify(limits);
  parseAccountLimits(json);
  return json;
}
