import { setTimeout as sleep } from "node:timers/promises";
import { eq, inArray } from "drizzle-orm";
import { deleteSome, removeSearchableRows, type Store, tables, transact, type Writer } from "../storage/index.ts";
import type { Account } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

/** Maximum number of rows removed in one transaction: some hundredths of a second, for which a running server waits. */
const ROWS_AT_ONCE = 250;

/**
 * Removes an account with its keys, workspaces, recordings and transcripts. The keys are removed first, in one
 * statement. The other rows, possibly a million, are removed in batches. After each batch the function pauses for as
 * long as the batch took, so that a running server can write. An interrupted deletion is completed by deleting the
 * account again. The caller removes the files.
 */
export async function deleteAccount(store: Store, account: Account, by: Auditor): Promise<void> {
  const { accounts, apiKeys, recordings } = tables;
  store.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
  for (const removeSome of [removeSomeRecordings, removeSomeUsage]) {
    for (let isMore = true; isMore; ) {
      const startedAt = performance.now();
      isMore = transact(store, (writer) => removeSome(writer, account.id));
      await sleep(performance.now() - startedAt);
    }
  }
  transact(store, (transaction) => {
    // Requests that were authenticated before the keys were removed may have added rows meanwhile.
    transaction.delete(recordings).where(eq(recordings.accountId, account.id)).run();
    transaction.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
    transaction.delete(accounts).where(eq(accounts.id, account.id)).run();
    audit(transaction, by, "accounts.delete", account.id, { name: account.name });
  });
}

/**
 * Removes a batch of the texts of some recordings, or these recordings once few texts are left.
 * @returns whether there may be more
 */
function removeSomeRecordings(writer: Writer, accountId: string): boolean {
  const { recordings, searchableRecordings, segments } = tables;
  const some = writer
    .select({ id: recordings.id })
    .from(recordings)
    .where(eq(recordings.accountId, accountId))
    .limit(ROWS_AT_ONCE)
    .all()
    .map(({ id }) => id);
  const searchable = writer
    .select({ number: searchableRecordings.number })
    .from(searchableRecordings)
    .where(inArray(searchableRecordings.recordingId, some))
    .limit(1)
    .get();
  if (searchable !== undefined) {
    removeSearchableRows(writer, searchable.number, ROWS_AT_ONCE);
    return true;
  }
  if (deleteSome(writer, segments, inArray(segments.recordingId, some), ROWS_AT_ONCE)) return true;
  writer.delete(recordings).where(inArray(recordings.id, some)).run();
  return some.length === ROWS_AT_ONCE;
}

function removeSomeUsage(writer: Writer, accountId: string): boolean {
  return deleteSome(writer, tables.audioUsage, eq(tables.audioUsage.accountId, accountId), ROWS_AT_ONCE);
}
