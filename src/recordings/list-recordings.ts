import { and, desc, eq, gt, gte, isNull, lt, sql } from "drizzle-orm";
import { type Recording, type Store, tables, values } from "../database/index.ts";
import { idsCreatedBetween } from "./recording-ids.ts";
import type { Status } from "./states.ts";

/** The filter for a list of recordings. */
export interface RecordingFilter {
  /** Undefined: all accounts. */
  readonly accountId?: string | undefined;
  /** Undefined: all workspaces, and recordings without a workspace. */
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Status[] | undefined;
  /** Milliseconds since the epoch, both exclusive. */
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** Only recordings created before this one. */
  readonly beforeId?: string | undefined;
  /** Whether recordings are included of which nothing is kept; false by default. */
  readonly includesTransient?: boolean;
}

/** Implements `Recordings.list`. */
export function listRecordings(store: Store, filter: RecordingFilter, limit: number): Recording[] {
  // The index orders recordings of one state by id, so lists of several states are merged from one list each.
  const isOfAccount = filter.accountId !== undefined && filter.workspaceId === undefined;
  const states = filter.statuses ?? (isOfAccount ? [undefined] : values.statuses);
  // In one transaction: a recording that changes its state in between would be in both lists, or in none.
  return store.transaction((transaction) =>
    [...new Set(states)]
      .flatMap((status) => listInState(transaction, filter, status, limit))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit),
  );
}

/**
 * Lists the recordings in one state, newest first.
 * @param status undefined for all states
 */
function listInState(
  store: Pick<Store, "select">,
  filter: RecordingFilter,
  status: Status | undefined,
  limit: number,
): Recording[] {
  const { recordings } = tables;
  const { accountId, workspaceId, createdAfter, createdBefore, beforeId, includesTransient } = filter;
  const ids = idsCreatedBetween(createdAfter, createdBefore);
  // The lower of the two, because SQLite searches the index by only one of several bounds.
  const belowId = [ids.below, beforeId].filter((id) => id !== undefined).sort()[0];
  // A workspace belongs to one account, so its index is more selective than the account's. The plus sign keeps SQLite
  // from using the account's index.
  const account = workspaceId === undefined ? sql`${recordings.accountId}` : sql`+${recordings.accountId}`;
  return store
    .select()
    .from(recordings)
    .where(
      and(
        isNull(recordings.deletedAt),
        includesTransient === true ? undefined : eq(recordings.isTransient, false),
        accountId === undefined ? undefined : eq(account, accountId),
        workspaceId === undefined ? undefined : eq(recordings.workspaceId, workspaceId),
        status === undefined ? undefined : eq(recordings.status, status),
        createdAfter === undefined ? undefined : gt(recordings.createdAt, createdAfter),
        createdBefore === undefined ? undefined : lt(recordings.createdAt, createdBefore),
        ids.above === undefined ? undefined : gte(recordings.id, ids.above),
        belowId === undefined ? undefined : lt(recordings.id, belowId),
      ),
    )
    .orderBy(desc(recordings.id))
    .limit(limit)
    .all();
}
