import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { type Store, tables } from "../../storage/index.ts";
import type { Recording } from "../recording-rows.ts";
import { NAME_ROW } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A recording that matches a search. */
interface FoundRecording {
  readonly recording: Recording;
  /** Indexes of the first few matching segments; empty if only its name matches. */
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
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Recording["status"][] | undefined;
}

/**
 * Maximum number of recordings that one search examines, in some tens of milliseconds. The page may not be full then.
 */
const MAX_EXAMINED = 1000;
const SEGMENTS_PER_RECORDING = 3;
/** A value above all numbers of recordings. */
const ABOVE_ALL_NUMBERS = 2 ** 41;

/**
 * Returns the matching recordings, newest first. Reads few segments, however many match: it skips the rest of a
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
    if (recording !== null) {
      const segments = firstRows.filter((row) => row !== NAME_ROW);
      const hasMoreSegments = segments.length > SEGMENTS_PER_RECORDING;
      found.push({ recording, segments: segments.slice(0, SEGMENTS_PER_RECORDING), hasMoreSegments });
    }
    last = isLast ? null : number;
    if (found.length === limit || ++examined === MAX_EXAMINED) break;
  }
  return { found, next: last };
}

function recordingOf(store: Store, number: number, { accountId, workspaceId, statuses }: SearchFilter) {
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
const ROWS_BEFORE_SKIP = 200;
/** Maximum number of rows scanned for one page, which takes some tens of milliseconds. */
const MAX_ROWS = 50_000;
const FIRST_ROWS = 4;

const fromAbove = `SELECT rowid >> 21 AS number, rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ? AND rowid < (? << 21) ORDER BY rowid DESC`;
const ofOne = `SELECT rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ?1 AND rowid BETWEEN ?2 << 21 AND (?2 << 21) + 2097151 ORDER BY rowid LIMIT ${FIRST_ROWS}`;

interface Row {
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
    using statement = $client.prepare<Row, [string, number]>(fromAbove);
    const rows: Iterable<Row> = statement.iterate(expression, from);
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

function firstRowsOf($client: Store["$client"], expression: string, number: number): number[] {
  using statement = $client.prepare<Pick<Row, "row">, [string, number]>(ofOne);
  return statement.all(expression, number).map(({ row }) => row);
}
