import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { type Account, deleteAccount } from "../accounts/index.ts";
import { deleteSome, type Store, tables, transact, type Writer } from "../database/index.ts";
import type { Recordings } from "../recordings/index.ts";
import type { DataDirectory } from "../storage/index.ts";
import type { Usage } from "../usage/index.ts";
import { auditorOf, type Operator } from "./viewer.ts";

export interface RemovalServices {
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  /** Ends the exports of recordings that are deleted. Only a server has any. */
  readonly endExports?: () => void;
}

/**
 * Removes all that is left of recordings that were marked as deleted, which made them invisible: their reruns, searchable
 * texts, exports in progress, files, and finally their rows, the record last. A removal that was interrupted anywhere is
 * therefore continued by `finishRemovals`.
 */
export async function finishRemoval(
  { recordings, dataDirectory, endExports = () => {} }: RemovalServices,
  deleted: readonly string[],
): Promise<void> {
  if (deleted.length === 0) return;
  const ids = recordings.reruns.withReruns(deleted);
  await recordings.rows.removeSearchable(ids);
  endExports();
  for (const id of ids) await dataDirectory.removeFiles(id);
  await dataDirectory.audio.sync();
  await recordings.rows.removeDeleted(ids);
}

/**
 * Removes a recording that has ended.
 * @param also runs further statements in the transaction that marks it as deleted
 * @returns false if it is open, held or deleted already
 */
export async function removeEnded(
  services: RemovalServices,
  id: string,
  also?: (writer: Writer) => void,
): Promise<boolean> {
  if (!services.recordings.delete(id, also)) return false;
  await finishRemoval(services, [id]);
  return true;
}

/** Cancels a recording that is queued or processed, and refunds its charge. @returns false if it has ended */
export function cancelOpen(
  { recordings, usage }: { readonly recordings: Recordings; readonly usage: Usage },
  id: string,
  also: (writer: Writer) => void = () => {},
): boolean {
  return recordings.fail(id, { reason: "internal", cause: "cancelled" }, (writer) => {
    usage.refundAudio(id);
    also(writer);
  });
}

/** Continues all removals that were interrupted. */
export async function finishRemovals(services: RemovalServices): Promise<void> {
  await finishRemoval(services, services.recordings.deletedIds());
}

interface AccountRemovalServices extends RemovalServices {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Number of recordings removed before a pause. */
const RECORDINGS_AT_ONCE = 20;
/** Number of rows of words of live sessions that are removed at once. */
const ROWS_AT_ONCE = 100;

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
    await removeLiveSessions(services, account.id);
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

/** Removes the live sessions of an account. A server that has one finds its row gone within seconds, and ends it. */
async function removeLiveSessions({ store, dataDirectory }: AccountRemovalServices, accountId: string): Promise<void> {
  const { liveSegments, liveSessions } = tables;
  const isOfAccount = eq(liveSessions.accountId, accountId);
  for (const { id } of store.select({ id: liveSessions.id }).from(liveSessions).where(isOfAccount).all()) {
    await dataDirectory.liveFilesOf(id).remove();
    const removeSome = () =>
      transact(store, (writer) => deleteSome(writer, liveSegments, eq(liveSegments.sessionId, id), ROWS_AT_ONCE));
    while (removeSome()) await sleep(1);
    store.delete(liveSessions).where(eq(liveSessions.id, id)).run();
  }
}
