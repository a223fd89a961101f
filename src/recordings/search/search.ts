import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { type Store, tables } from "../../storage/index.ts";
import type { Recording } from "../recording.ts";
import { recordingsWith } from "./recordings-with.ts";
import { nameRow } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A recording in which something was found. */
interface FoundRecording {
  readonly recording: Recording;
  /** Indexes of the first segments that have it, a few; none where its name alone has it. */
  readonly segments: readonly number[];
  readonly hasMoreSegments: boolean;
}

interface SearchPage {
  readonly found: readonly FoundRecording[];
  /** Where the next page begins; null on the last. */
  readonly next: number | null;
}

/** Whose recordings are searched. */
interface SearchFilter {
  readonly accountId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly statuses?: readonly Recording["status"][] | undefined;
}

/** What one search may go through: some tens of milliseconds' work. The page then ends before it is full. */
const mostRecordings = 1000;
const segmentsPerRecording = 3;
/** Above every number there is. */
const noNumber = 2 ** 41;

/**
 * Recordings that have what is looked for, those created last first. However many segments have it, few are looked at: one
 * recording that is full of it is stepped over.
 * @param before where the page before ended; null for the first
 */
export function searchRecordings(
  store: Store,
  query: SearchQuery,
  filter: SearchFilter,
  before: number | null,
  limit: number,
): SearchPage {
  const found: FoundRecording[] = [];
  let looked = 0;
  let last: number | null = null;
  for (const { number, firstRows, isLast } of recordingsWith(store, query, before ?? noNumber)) {
    const recording = recordingOf(store, number, filter);
    if (recording !== null) {
      const segments = firstRows.filter((row) => row !== nameRow);
      const hasMoreSegments = segments.length > segmentsPerRecording;
      found.push({ recording, segments: segments.slice(0, segmentsPerRecording), hasMoreSegments });
    }
    last = isLast ? null : number;
    if (found.length === limit || ++looked === mostRecordings) break;
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
        // The plus keeps the index of the one recording the one that is taken.
        accountId === undefined ? undefined : eq(sql`+${recordings.accountId}`, accountId),
        workspaceId === undefined ? undefined : eq(sql`+${recordings.workspaceId}`, workspaceId),
        statuses === undefined ? undefined : inArray(sql`+${recordings.status}`, [...statuses]),
      ),
    )
    .get();
  return row?.recording ?? null;
}
