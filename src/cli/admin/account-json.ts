import { type Account, parseAccountLimits } from "../../accounts/index.ts";
import { date, optionalDate } from "../output.ts";

/** Converts an account to the format that commands print with --json. */
export function accountJson(account: Account) {
  return {
    id: account.id,
    name: account.name,
    standing: account.standing,
    subscribed_until: optionalDate(account.subscribedUntil),
    priority: account.priority,
    limits: parseAccountLimits(account.limits),
    vocabulary: account.vocabulary,
    voices: account.voices,
    created_at: date(account.createdAt),
  };
}
