import { and, desc, eq, gt, gte, isNull, lt, sql } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";
import type { Recording } from "./recording.ts";
import { idsCreatedBetween } from "./recording-ids.ts";
import { type Status, statusSchema } from "./states.ts";

/** Which recordings a list shows. */
export interface RecordingFilter {
  /** Undefined: everyone's. */
  readonly accountId?: string | undefined;
  /** Undefined: of all workspaces and of none. */
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Status[] | undefined;
  /** Milliseconds since the epoch, both exclusive. */
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** Only those that were created before this one. */
  readonly beforeId?: string | undefined;
}

const allStatuses = statusSchema.anyOf.map((choice) => choice.const);

/** As `Recordings.list`. */
export function listRecordings(store: Store, filter: RecordingFilter, limit: number): Recording[] {
  // Recordings of one state lie in the order of their ids in an index; those of several are put together of such lists.
  const isOfAccount = filter.accountId !== undefined && filter.workspaceId === undefined;
  const states = filter.statuses ?? (isOfAccount ? [undefined] : allStatuses);
  // In one transaction: what goes from one state to the next meanwhile would be in both lists, or in none.
  return store.transaction((transaction) =>
    [...new Set(states)]
      .flatMap((status) => listInState(transaction, filter, status, limit))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit),
  );
}

/** @param status undefined: of every one */
function listInState(
  store: Pick<Store, "select">,
  { accountId, workspaceId, createdAfter, createdBefore, beforeId }: Omit<RecordingFilter, "statuses">,
  status: Status | undefined,
  limit: number,
): Recording[] {
  const { recordings } = tables;
  const ids = idsCreatedBetween(createdAfter, createdBefore);
  // The nearer of the two: of several bounds the index is searched by one.
  const belowId = [ids.below, beforeId].filter((id) => id !== undefined).sort()[0];
  // A workspace is one account's: its index finds fewer than the account's, which the plus keeps from being taken.
  const account = workspaceId === undefined ? sql`${recordings.accountId}` : sql`+${recordings.accountId}`;
  return store
    .select()
    .from(recordings)
    .where(
      and(
        isNull(recordings.deletedAt),
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
