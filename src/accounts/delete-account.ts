import { setTimeout as sleep } from "node:timers/promises";
import { eq, type SQL } from "drizzle-orm";
import { deleteSome, type Store, tables, transact } from "../database/index.ts";
import type { Account } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

/** Maximum number of rows removed in one transaction: some hundredths of a second, for which a running server waits. */
const ROWS_AT_ONCE = 250;

/**
 * Deletes an account with its keys, folders, workspaces and usage. The keys and folders are removed first, so that no new
 * recording is accepted. The files in the folders stay. An interrupted deletion is completed by deleting the account again.
 * @param removeRecordings removes the account's recordings; called again if a request has added one meanwhile
 */
export async function deleteAccount(
  store: Store,
  account: Account,
  by: Auditor,
  removeRecordings: () => Promise<void> = async () => {},
): Promise<void> {
  const { apiKeys, audioUsage, folders, webhookDeliveries, webhooks } = tables;
  store.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
  store.delete(folders).where(eq(folders.accountId, account.id)).run();
  for (const { id } of store.select().from(webhooks).where(eq(webhooks.accountId, account.id)).all()) {
    await removeAll(() => deleteSomeRows(store, webhookDeliveries, eq(webhookDeliveries.webhookId, id)));
    // The deletion of the recordings is not announced.
    store.delete(webhooks).where(eq(webhooks.id, id)).run();
  }
  do {
    await removeRecordings();
    await removeAll(() => deleteSomeRows(store, audioUsage, eq(audioUsage.accountId, account.id)));
  } while (!deleteWithoutRecordings(store, account, by));
}

/** Repeats a deletion of some rows until none remain. A running server can write in the pauses. */
async function removeAll(removeSome: () => boolean): Promise<void> {
  for (let isMore = true; isMore; ) {
    const startedAt = performance.now();
    isMore = removeSome();
    await sleep(performance.now() - startedAt);
  }
}

function deleteSomeRows(store: Store, table: Parameters<typeof deleteSome>[1], where: SQL): boolean {
  return transact(store, (writer) => deleteSome(writer, table, where, ROWS_AT_ONCE));
}

/** Returns false if the account has recordings. */
function deleteWithoutRecordings(store: Store, account: Account, by: Auditor): boolean {
  const { accounts, apiKeys, recordings } = tables;
  return transact(store, (transaction) => {
    const isOfAccount = eq(recordings.accountId, account.id);
    if (transaction.select({ id: recordings.id }).from(recordings).where(isOfAccount).get() !== undefined) return false;
    transaction.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
    transaction.delete(accounts).where(eq(accounts.id, account.id)).run();
    audit(transaction, by, "accounts.delete", account.id, { name: account.name });
    return true;
  });
}
