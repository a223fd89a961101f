import { setTimeout as sleep } from "node:timers/promises";
import { type Account, deleteAccount } from "../accounts/index.ts";
import type { Store } from "../storage/index.ts";
import { finishRemoval, type RemovalServices } from "./removal.ts";
import { auditorOf, type Operator } from "./viewer.ts";

interface AccountRemovalServices extends RemovalServices {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Number of recordings removed before a pause. */
const RECORDINGS_AT_ONCE = 20;

/**
 * Removes an account with its keys, workspaces, recordings and transcripts; its recordings in progress are cancelled,
 * and holds do not count. The recordings, possibly a million rows, are removed in batches. After each batch the function
 * pauses for as long as the batch took, so that a running server can write. An interrupted removal is completed by
 * removing the account again.
 * @returns the number of removed recordings
 */
export async function removeAccount(
  services: AccountRemovalServices,
  operator: Operator,
  account: Account,
): Promise<number> {
  const { store, recordings, now } = services;
  let removed = 0;
  await deleteAccount(store, account, auditorOf(operator, now()), async () => {
    for (;;) {
      const ids = recordings.deleteSomeOf(account.id, RECORDINGS_AT_ONCE);
      if (ids.length === 0) return;
      const startedAt = performance.now();
      await finishRemoval(services, ids);
      removed += ids.length;
      await sleep(performance.now() - startedAt);
    }
  });
  return removed;
}
