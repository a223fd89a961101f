import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { type Store, tables } from "../../storage/index.ts";
import type { Recording } from "../recording-rows.ts";
import { NAME_ROW } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A recording that matches a search. */
export interface FoundRecording {
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

/** The recordings that are searched. */
export interface SearchFilter {
  readonly accountId?: string | undefined;
  /** Accounts that the viewer sees. Undefined: all. */
  readonly accountIds?: readonly string[] | undefined;
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Recording["status"][] | undefined;
}

/**
 * Maximum number of recordings that one search examines, in some tens of milliseconds. The page may not be full then.
 */
const MAX_EXAMINED = 1000;
const SEGMENTS_PER_RECORDING = 3;
/** A value above all numbers of recordings. */
export const ABOVE_ALL_NUMBERS = 2 ** 41;

/**
 * Returns the matching recordings, newest first, for a viewer who sees all accounts: the end of a page may be the number
 * of any recording. See searchVisible for other viewers. Reads few segments, however many match: it skips the rest of a
 * recording with many matches.
 * @param before end of the previous page; null for the first
 */
export function searchRecordings(
  store: Store,
  query: SearchQuery,
  filter: SearchFilter,
  before: number | null,
  limit: number,
): SearchPage {
  const found: FoundRecording[] = [];
  let examined = 0;
  let last: number | null = null;
  for (const { number, firstRows, isLast } of recordingsWith(store, query, before ?? ABOVE_ALL_NUMBERS)) {
    const recording = recordingOf(store, number, filter);
    if (recording !== null) found.push(asFound(recording, firstRows));
    last = isLast ? null : number;
    if (found.length === limit || ++examined === MAX_EXAMINED) break;
  }
  return { found, next: last };
}

/** Returns a matching recording with a few of its segments. @param firstRows the lowest few of its matching rows */
export function asFound(recording: Recording, firstRows: readonly number[]): FoundRecording {
  const segments = firstRows.filter((row) => row !== NAME_ROW);
  const hasMoreSegments = segments.length > SEGMENTS_PER_RECORDING;
  return { recording, segments: segments.slice(0, SEGMENTS_PER_RECORDING), hasMoreSegments };
}

/** Returns the recording with a number; null if it is deleted or the filter excludes it. */
export function recordingOf(store: Store, number: number, filter: SearchFilter): Recording | null {
  const { accountId, accountIds, workspaceId, statuses } = filter;
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
        accountIds === undefined ? undefined : inArray(sql`+${recordings.accountId}`, [...accountIds]),
        workspaceId === undefined ? undefined : eq(sql`+${recordings.workspaceId}`, workspaceId),
        statuses === undefined ? undefined : inArray(sql`+${recordings.status}`, [...statuses]),
      ),
    )
    .get();
  return row?.recording ?? null;
}

/** The index entries of one recording. */
interface IndexedRecording {
  /** Number that its rows are derived from. */
  readonly number: number;
  /** The lowest few of its matching rows. */
  readonly firstRows: readonly number[];
  /** Whether no further recording matches. */
  readonly isLast: boolean;
}

/** Number of matching rows of a recording after which the scan skips the rest. */
export const ROWS_BEFORE_SKIP = 200;
/** Maximum number of rows scanned for one page, which takes some tens of milliseconds. */
const MAX_ROWS = 50_000;
export const FIRST_ROWS = 4;

/** Rows that match below a number, in descending order. */
export const MATCHES_FROM_ABOVE = `SELECT rowid >> 21 AS number, rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ? AND rowid < (? << 21) ORDER BY rowid DESC`;
const ofOne = `SELECT rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ?1 AND rowid BETWEEN ?2 << 21 AND (?2 << 21) + 2097151 ORDER BY rowid LIMIT ${FIRST_ROWS}`;

/** A row of the index and the number of its recording. */
export interface MatchingRow {
  readonly number: number;
  readonly row: number;
}

/**
 * Yields the matching recordings below a number, in descending order, read from the index on demand. With very many
 * matching rows, it stops before the last recording.
 */
function* recordingsWith({ $client }: Store, query: SearchQuery, below: number): Generator<IndexedRecording> {
  const { expression, hasPrefix } = query;
  let scanned = 0;
  let from: number | null = below;
  while (from !== null) {
    using statement = $client.prepare<MatchingRow, [string, number]>(MATCHES_FROM_ABOVE);
    const rows: Iterable<MatchingRow> = statement.iterate(expression, from);
    let current: { readonly number: number; rows: number[]; count: number } | null = null;
    from = null;
    for (const { number, row } of rows) {
      if (current !== null && current.number !== number) {
        yield { number: current.number, firstRows: current.rows.toReversed(), isLast: false };
        current = null;
      }
      current ??= { number, rows: [], count: 0 };
      current.rows = [...current.rows, row].slice(-FIRST_ROWS);
      current.count += 1;
      scanned += 1;
      // For a prefix, each statement merges all words that begin with it; other words are found at once. A new
      // statement is therefore cheap only without a prefix.
      const isFull = !hasPrefix && current.count === ROWS_BEFORE_SKIP;
      if (isFull || scanned === MAX_ROWS) {
        from = number;
        break;
      }
    }
    if (current === null) return;
    const { number } = current;
    const firstRows = from === null ? current.rows.toReversed() : firstRowsOf($client, expression, number);
    yield { number, firstRows, isLast: from === null };
    if (scanned >= MAX_ROWS) return;
  }
}

/** Returns the lowest few matching rows of a recording. */
export function firstRowsOf($client: Store["$client"], expression: string, number: number): number[] {
  using statement = $client.prepare<Pick<MatchingRow, "row">, [string, number]>(ofOne);
  return statement.all(expression, number).map(({ row }) => row);
}
