import type { Static } from "@sinclair/typebox";
import { parseStatuses } from "../http/index.ts";
import { readSegments, SearchQuery, searchRecordings, snippetOf } from "../recordings/index.ts";
import type { FoundRecording, Hit, RecordingPage } from "./contract/recordings.ts";
import { Owners } from "./owners.ts";
import { decodeCursor, encodeCursor, firstPage } from "./pages.ts";
import type { recordingsQuery } from "./queries.ts";
import type { ConsoleServices } from "./services.ts";
import { showRecording } from "./show-recording.ts";

type RecordingsQuery = Static<typeof recordingsQuery>;

const recordingId = /^[0-9a-f-]{36}$/;
const searchPosition = /^-?\d{1,15}$/;

/** Returns a page of all recordings, newest first. */
export function listRecordings({ store, recordings }: ConsoleServices, query: RecordingsQuery): RecordingPage {
  const { limit, status, account: accountId, workspace: workspaceId } = query;
  const beforeId = decodeCursor("r", recordingId, query.cursor) ?? undefined;
  const statuses = parseStatuses(status);
  const rows = recordings.list({ accountId, workspaceId, statuses, beforeId }, limit + 1);
  const owners = new Owners(store);
  const { page, nextCursor } = firstPage("r", rows, limit);
  return {
    recordings: page.map((recording) => showRecording(recording, owners)),
    next_cursor: nextCursor,
    is_partial: null,
  };
}

/**
 * Returns a page of the recordings whose transcript or name contains the searched words.
 * @param isPartial whether some recordings are not in the search index yet
 */
export function findRecordings(
  { store }: ConsoleServices,
  query: RecordingsQuery & { readonly q: string },
  isPartial: boolean,
): RecordingPage {
  const { limit, status, account: accountId, workspace: workspaceId } = query;
  const position = decodeCursor("s", searchPosition, query.cursor);
  const search = new SearchQuery(query.q);
  if (search.isEmpty) return { recordings: [], next_cursor: null, is_partial: isPartial };
  const filter = { accountId, workspaceId, statuses: parseStatuses(status) };
  const { found, next } = searchRecordings(store, search, filter, position === null ? null : Number(position), limit);
  const owners = new Owners(store);
  return {
    recordings: found.map((each): FoundRecording => {
      const { sourceName, id } = each.recording;
      return {
        ...showRecording(each.recording, owners),
        name_marks: search.marksIn(sourceName ?? ""),
        hits: each.segments.flatMap((index) => hitOf(store, search, id, index)),
        has_more_hits: each.hasMoreSegments,
      };
    }),
    next_cursor: next === null ? null : encodeCursor("s", String(next)),
    is_partial: isPartial,
  };
}

function hitOf(store: ConsoleServices["store"], search: SearchQuery, recordingId: string, index: number): Hit[] {
  return readSegments(store, recordingId, index, 1).map(({ text, startMilliseconds }) => ({
    segment: index,
    start: startMilliseconds / 1000,
    ...snippetOf(text, search.marksIn(text)),
  }));
}
