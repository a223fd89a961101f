import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, eq, exists, inArray, isNull, sql } from "drizzle-orm";
import { type Recording, type Store, tables } from "../database/index.ts";
import { ABOVE_ALL_NUMBERS, readMatches, visibleNumbers } from "./matches.ts";
import { NAME_ROW } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A recording that matches a search. */
interface FoundRecording {
  readonly recording: Recording;
  /** Ids of a few matching segments; empty if only its name matches. */
  readonly segments: readonly number[];
  readonly hasMoreSegments: boolean;
}

export interface SearchPage {
  readonly found: readonly FoundRecording[];
  /** Start of the next page; null on the last one. */
  readonly next: number | null;
}

/** The recordings that are searched, of those that the viewer sees. */
interface SearchFilter {
  readonly accountId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Recording["status"][] | undefined;
  readonly tag?: string | undefined;
}

/**
 * Maximum number of matching recordings that one search of all accounts examines, and of rows that it reads, in some tens
 * of milliseconds. The page may not be full then.
 */
const MOST_OF_ALL = { matches: 1000, cost: 50_000 };
/**
 * Maximum numbers that another search reads before other requests are served. A row takes 0.2 µs. A statement for a
 * prefix first merges all words with the prefix, which takes 50 to 150 ms for a million rows, so it reads more of them.
 */
const MOST_AT_ONCE = { word: { matches: 101, cost: 50_000 }, prefix: { matches: 101, cost: 200_000 } };
const SEGMENTS_PER_RECORDING = 3;

/**
 * Returns the matching recordings, newest first. For a viewer of some accounts, the page depends on their recordings
 * alone: it has an end only if a further one of them matches. Otherwise the viewer could test which words other accounts
 * have. Matches in other accounts still cost time, so the search skips them, and yields to other requests.
 * @param accountIds the accounts whose recordings the viewer sees
 * @param before end of the previous page; null for the first
 */
export async function searchRecordings(
  store: Store,
  query: SearchQuery,
  accountIds: "all" | readonly string[],
  filter: SearchFilter,
  before: number | null,
  limit: number,
): Promise<SearchPage> {
  const visible = visibleNumbers(store, accountIds);
  const found: FoundRecording[] = [];
  // The first matches of a search of all accounts fill the page, unless the filter excludes some.
  let most =
    accountIds === "all" ? { ...MOST_OF_ALL, matches: limit + 1 } : MOST_AT_ONCE[query.hasPrefix ? "prefix" : "word"];
  const left = { ...MOST_OF_ALL };
  let last: number | null = null;
  for (let below: number | null = before ?? ABOVE_ALL_NUMBERS; below !== null; ) {
    const { matches, cost, next } = readMatches(store, query, visible, below, most);
    for (const { number, firstRows } of matches) {
      const recording = recordingOf(store, number, accountIds, filter);
      if (recording === null) continue;
      if (found.length === limit) return { found, next: last };
      found.push(asFound(recording, firstRows));
      last = number;
    }
    below = next;
    if (accountIds === "all") {
      left.matches -= matches.length;
      left.cost -= cost;
      if (left.matches <= 0 || left.cost <= 0) return { found, next };
      most = left;
    }
    if (below !== null) await yieldToEventLoop();
  }
  return { found, next: null };
}

/** Returns a matching recording with a few of its segments. @param firstRows the lowest few of its matching rows */
function asFound(recording: Recording, firstRows: readonly number[]): FoundRecording {
  const segments = firstRows.filter((row) => row !== NAME_ROW);
  const hasMoreSegments = segments.length > SEGMENTS_PER_RECORDING;
  return { recording, segments: segments.slice(0, SEGMENTS_PER_RECORDING), hasMoreSegments };
}

/** Returns the recording with a number; null if it is deleted, the viewer does not see it, or the filter excludes it. */
function recordingOf(
  store: Store,
  number: number,
  accountIds: "all" | readonly string[],
  { accountId, workspaceId, statuses, tag }: SearchFilter,
): Recording | null {
  const { recordings, searchableRecordings } = tables;
  const row = store
    .select({ recording: recordings })
    .from(searchableRecordings)
    .innerJoin(recordings, eq(recordings.id, searchableRecordings.recordingId))
    .where(
      and(
        eq(searchableRecordings.number, number),
        isNull(recordings.deletedAt),
        // The plus sign keeps SQLite from using any index other than the one that finds the single recording.
        accountId === undefined ? undefined : eq(sql`+${recordings.accountId}`, accountId),
        accountIds === "all" ? undefined : inArray(sql`+${recordings.accountId}`, [...accountIds]),
        workspaceId === undefined ? undefined : eq(sql`+${recordings.workspaceId}`, workspaceId),
        statuses === undefined ? undefined : inArray(sql`+${recordings.status}`, [...statuses]),
        tag === undefined ? undefined : exists(taggedAs(store, tag)),
      ),
    )
    .get();
  return row?.recording ?? null;
}

/** Returns the tag of the recording in the statement around it, if it has this one. */
function taggedAs(store: Store, tag: string) {
  const { recordings, recordingTags } = tables;
  const isIt = and(
    eq(recordingTags.accountId, recordings.accountId),
    eq(recordingTags.tag, tag),
    eq(recordingTags.recordingId, recordings.id),
  );
  return store.select({ tag: recordingTags.tag }).from(recordingTags).where(isIt);
}
