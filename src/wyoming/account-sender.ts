import { type Account, findAccount } from "../accounts/index.ts";
import type { Store } from "../database/index.ts";
import { IntakeError, requireActive } from "../intake/index.ts";
import type { LiveSender } from "../live/index.ts";

export interface AccountOptions {
  readonly store: Store;
  /** Returns the name or id of the account for which all clients transcribe. */
  readonly account: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Returns the sender of all sessions. @throws {IntakeError} when the account does not exist or may not be used */
export function accountSender(options: AccountOptions): LiveSender {
  const account = usableAccount(options);
  return {
    kind: "application",
    account,
    workspaceId: null,
    holder: "wyoming",
    requireAccess() {
      if (usableAccount(options).id !== account.id) throw noAccount();
    },
  };
}

function usableAccount({ store, account: name, now }: AccountOptions): Account {
  const account = findAccount(store, name());
  if (account === null) throw noAccount();
  requireActive(account, now());
  return account;
}

function noAccount(): IntakeError {
  return new IntakeError({ kind: "closed", reason: "The account of live.wyoming_account does not exist." });
}
