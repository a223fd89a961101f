import { setTimeout as sleep } from "node:timers/promises";
import { and, eq, inArray, sql } from "drizzle-orm";
import { removeSearchableRows, type Store, tables } from "../storage/index.ts";
import type { Account } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

/**
 * Maximum number of rows removed in one transaction. It takes some hundredths of a second, for which a running server
 * waits.
 */
const rowsAtOnce = 250;

type Writer = Pick<Store, "select" | "delete" | "all" | "run">;

/**
 * Removes an account with its keys, workspaces, recordings and transcripts.
 * The keys are removed first, in one statement. The other rows, possibly a million, are removed in batches.
 * After each batch the function pauses for as long as the batch took, so that a running server can write.
 * An interrupted deletion is completed by deleting the account again. The caller removes the files.
 */
export async function deleteAccount(store: Store, account: Account, by: Auditor): Promise<void> {
  const { accounts, apiKeys, recordings } = tables;
  store.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
  for (const removeSome of [removeSomeRecordings, removeSomeUsage]) {
    for (let isMore = true; isMore; ) {
      const startedAt = performance.now();
      isMore = store.transaction((writer) => removeSome(writer, account.id), { behavior: "immediate" });
      await sleep(performance.now() - startedAt);
    }
  }
  store.transaction((transaction) => {
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
    .limit(rowsAtOnce)
    .all()
    .map(({ id }) => id);
  const searchable = writer
    .select({ number: searchableRecordings.number })
    .from(searchableRecordings)
    .where(inArray(searchableRecordings.recordingId, some))
    .limit(1)
    .get();
  if (searchable !== undefined) {
    removeSearchableRows(writer, searchable.number, rowsAtOnce);
    return true;
  }
  const someSegments = writer
    .select({ recordingId: segments.recordingId, index: segments.index })
    .from(segments)
    .where(inArray(segments.recordingId, some))
    .limit(rowsAtOnce);
  const removed = writer
    .delete(segments)
    .where(sql`(${segments.recordingId}, ${segments.index}) IN ${someSegments}`)
    .returning({ index: segments.index })
    .all();
  if (removed.length === rowsAtOnce) return true;
  writer.delete(recordings).where(inArray(recordings.id, some)).run();
  return some.length === rowsAtOnce;
}

function removeSomeUsage(writer: Writer, accountId: string): boolean {
  const { audioUsage } = tables;
  const ofAccount = eq(audioUsage.accountId, accountId);
  const some = writer
    .select({ day: audioUsage.day, recordingId: audioUsage.recordingId })
    .from(audioUsage)
    .where(ofAccount)
    .limit(rowsAtOnce);
  const removed = writer
    .delete(audioUsage)
    .where(and(ofAccount, sql`(${audioUsage.day}, ${audioUsage.recordingId}) IN ${some}`))
    .returning({ day: audioUsage.day })
    .all();
  return removed.length === rowsAtOnce;
}
