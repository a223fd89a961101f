import { and, type Column, desc, eq, gt, gte, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
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
  /** Only recordings with this tag, of one account. */
  readonly tag?: string | undefined;
  /** Only recordings created before this one. */
  readonly beforeId?: string | undefined;
  /** Whether recordings are included of which nothing is kept; false by default. */
  readonly includesTransient?: boolean;
}

/** Implements `Recordings.list`. */
export function listRecordings(store: Store, filter: RecordingFilter, limit: number): Recording[] {
  if (filter.tag !== undefined) return listTagged(store, filter, filter.tag, limit);
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

/** Lists the recordings with a tag, newest first. The index of tags orders them, whatever their states. */
function listTagged(store: Store, filter: RecordingFilter, tag: string, limit: number): Recording[] {
  const { recordings, recordingTags } = tables;
  const { accountId, statuses } = filter;
  if (accountId === undefined) throw new Error("a tag is that of an account");
  return store
    .select({ recording: recordings })
    .from(recordingTags)
    .innerJoin(recordings, eq(recordings.id, recordingTags.recordingId))
    .where(
      and(
        eq(recordingTags.accountId, accountId),
        eq(recordingTags.tag, tag),
        statuses === undefined ? undefined : inArray(sql`+${recordings.status}`, [...statuses]),
        conditionsOf(filter, recordingTags.recordingId),
      ),
    )
    .orderBy(desc(recordingTags.recordingId))
    .limit(limit)
    .all()
    .map(({ recording }) => recording);
}

/**
 * Returns the conditions of a filter besides account, tag and states.
 * @param id the column that orders the list
 */
function conditionsOf(filter: RecordingFilter, id: Column): SQL | undefined {
  const { recordings } = tables;
  const { workspaceId, createdAfter, createdBefore, beforeId, includesTransient, tag } = filter;
  const ids = idsCreatedBetween(createdAfter, createdBefore);
  // The lower of the two, because SQLite searches the index by only one of several bounds.
  const belowId = [ids.below, beforeId].filter((each) => each !== undefined).sort()[0];
  const workspace = tag === undefined ? sql`${recordings.workspaceId}` : sql`+${recordings.workspaceId}`;
  return and(
    isNull(recordings.deletedAt),
    includesTransient === true ? undefined : eq(recordings.isTransient, false),
    workspaceId === undefined ? undefined : eq(workspace, workspaceId),
    createdAfter === undefined ? undefined : gt(recordings.createdAt, createdAfter),
    createdBefore === undefined ? undefined : lt(recordings.createdAt, createdBefore),
    ids.above === undefined ? undefined : gte(id, ids.above),
    belowId === undefined ? undefined : lt(id, belowId),
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
  const { accountId, workspaceId } = filter;
  // A workspace belongs to one account, so its index is more selective than the account's. The plus sign keeps SQLite
  // from using the account's index.
  const account = workspaceId === undefined ? sql`${recordings.accountId}` : sql`+${recordings.accountId}`;
  return store
    .select()
    .from(recordings)
    .where(
      and(
        accountId === undefined ? undefined : eq(account, accountId),
        status === undefined ? undefined : eq(recordings.status, status),
        conditionsOf(filter, recordings.id),
      ),
    )
    .orderBy(desc(recordings.id))
    .limit(limit)
    .all();
}
