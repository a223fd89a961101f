import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { type Store, tables } from "../../storage/index.ts";
import type { Recording } from "../recordings.ts";
import { recordingsWith } from "./recordings-with.ts";
import { NAME_ROW } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A recording that matches a search. */
interface FoundRecording {
  readonly recording: Recording;
  /** Indexes of the first few matching segments; empty if only its name matches. */
  readonly segments: readonly number[];
  readonly hasMoreSegments: boolean;
}

interface SearchPage {
  readonly found: readonly FoundRecording[];
  /** Start of the next page; null on the last one. */
  readonly next: number | null;
}

/** The recordings that are searched. */
interface SearchFilter {
  readonly accountId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Recording["status"][] | undefined;
}

/**
 * Maximum number of recordings that one search examines, in some tens of milliseconds. The page may then not be full.
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
