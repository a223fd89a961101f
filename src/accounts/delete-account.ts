import { setTimeout as sleep } from "node:timers/promises";
import { and, eq, inArray, sql } from "drizzle-orm";
import { removeSearchableRows, type Store, tables } from "../storage/index.ts";
import type { Account } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

/** Rows that are removed in one go: some hundredths of a second's work, which a server at work waits for. */
const rowsAtOnce = 250;

type Writer = Pick<Store, "select" | "delete" | "all" | "run">;

/**
 * Removes an account and, with it, its keys, workspaces, records and texts. Its keys are gone at once; what may be a million
 * rows goes some at a time, with as long a pause after each, in which a server writes. Whoever is stopped in the middle
 * deletes it again. Its files are the caller's to remove.
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
    // What came in meanwhile, and had been let in before.
    transaction.delete(recordings).where(eq(recordings.accountId, account.id)).run();
    transaction.delete(apiKeys).where(eq(apiKeys.accountId, account.id)).run();
    transaction.delete(accounts).where(eq(accounts.id, account.id)).run();
    audit(transaction, by, "accounts.delete", account.id, { name: account.name });
  });
}

/** The texts of some recordings, or these recordings where little is left of them. @returns whether there may be more */
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
