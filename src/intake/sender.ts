import type { Account } from "../accounts/index.ts";
import type { Application } from "../library/index.ts";
import { type AccountTrouble, IntakeError } from "./intake-error.ts";

/** The account and workspace for which a recording is created. */
export interface Sender extends Application {
  /**
   * Repeats the access checks made before the upload, which may have taken hours.
   * @throws what the first check throws
   */
  requireAccess(): void;
}

/** Returns why an account may not create recordings; null if it may. Its keys stay stored and work again once it may. */
export function accountTrouble(account: Account, now: number): AccountTrouble | null {
  if (account.standing !== "active") return account.standing;
  return account.subscribedUntil !== null && account.subscribedUntil <= now ? "no_subscription" : null;
}

/** @throws {IntakeError} `account` when the account may not create recordings */
export function requireActive(account: Account, now: number): void {
  const trouble = accountTrouble(account, now);
  if (trouble !== null) throw new IntakeError({ kind: "account", trouble });
}
