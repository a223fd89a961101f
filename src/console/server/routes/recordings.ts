import { type Static, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import {
  contextOf,
  decodeCursor,
  encodeCursor,
  PageFiller,
  pageSize,
  parseStatuses,
  readQuery,
  requireActive,
  statusList,
} from "../../../http/index.ts";
import type { Viewer } from "../../../library/index.ts";
import { type Recording, SearchQuery, snippetOf, type Transcript } from "../../../recordings/index.ts";
import { isRecordingId } from "../../../storage/index.ts";
import {
  type FoundRecording,
  type Hit,
  type RecordingPage,
  recordingPageSchema,
  recordingSchema,
} from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { requireAccount, requireWorkspace } from "../lookups.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { admitAgain, viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { showRecording } from "../show-recording.ts";

const ownerId = Type.String({ maxLength: 64 });
/** Searched words of a query. */
export const searchText = Type.String({ minLength: 1, maxLength: 200, description: "1 to 200 characters" });

const recordingsQuery = Type.Object({
  status: Type.Optional(statusList),
  account: Type.Optional(ownerId),
  workspace: Type.Optional(ownerId),
  q: Type.Optional(searchText),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
  limit: pageSize({ maximum: 100, default: 50 }),
});
const uploadQuery = Type.Object({ account: ownerId, workspace: Type.Optional(ownerId) });

/**
 * Creates the routes that list, search, show, create and delete recordings.
 * @param isPartial whether some recordings are not in the search index yet
 */
export function recordingRoutes(services: ConsoleServices, facts: RecordingFacts, isPartial: () => boolean): AnyElysia {
  const { library, store } = services;
  const routes = new Elysia({ name: "console-recordings" });

  addRoute(routes, "GET /recordings", { 200: recordingPageSchema }, (request) => {
    const { q, ...query } = readQuery(request, recordingsQuery);
    const viewer = viewerOf(request, store);
    return q === undefined
      ? listRecordings(services, viewer, query)
      : findRecordings(services, viewer, { ...query, q }, isPartial());
  });

  addRoute(routes, "POST /recordings", { 201: recordingSchema }, async (request) =>
    facts.show(viewerOf(request, store), await upload(services, request)),
  );

  addRoute(routes, "GET /recordings/:id", { 200: recordingSchema }, (request, id) => {
    const viewer = viewerOf(request, store);
    return facts.show(viewer, library.require(viewer, id));
  });

  return routes.delete("/recordings/:id", async ({ request, params }) => {
    await library.remove(viewerOf(request, store), params.id);
    return new Response(null, { status: 204 });
  });
}

/** Creates a recording for an account, with the same limits as a request of the account to the API. */
async function upload(services: ConsoleServices, request: Request): Promise<Recording> {
  const { store, library, creator, now } = services;
  const query = readQuery(request, uploadQuery);
  const choose = () => {
    const viewer = viewerOf(request, store);
    const account = requireAccount(services, viewer, query.account);
    library.requireCreation(viewer, account.id);
    const workspace = requireWorkspace(store, account, query.workspace);
    requireActive(account, now(), contextOf(request).origin);
    return { account, workspaceId: workspace?.id ?? null };
  };
  const requireAccess = () => {
    admitAgain(request);
    choose();
  };
  return await creator.createFor({ ...choose(), requireAccess }, request);
}

type RecordingsQuery = Omit<Static<typeof recordingsQuery>, "q">;

const isSearchPosition = (text: string) => /^-?\d{1,15}$/.test(text);

/** Returns a page of all recordings, newest first. */
function listRecordings({ store, library }: ConsoleServices, viewer: Viewer, query: RecordingsQuery): RecordingPage {
  const { limit, status, account: accountId, workspace: workspaceId } = query;
  const beforeId = decodeCursor("r", isRecordingId, query.cursor) ?? undefined;
  const filter = { accountId, workspaceId, statuses: parseStatuses(status), beforeId };
  const { entries, last } = PageFiller.fill(library.list(viewer, filter, limit + 1), limit, (recording) =>
    showRecording(store, recording, viewer),
  );
  return {
    recordings: entries,
    next_cursor: last === null ? null : encodeCursor("r", last.id),
    is_partial: null,
  };
}

/** Returns a page of the recordings whose transcript or name contains the searched words. */
async function findRecordings(
  { store, library }: ConsoleServices,
  viewer: Viewer,
  query: RecordingsQuery & { readonly q: string },
  isPartial: boolean,
): Promise<RecordingPage> {
  const { limit, status, account: accountId, workspace: workspaceId } = query;
  const position = decodeCursor("s", isSearchPosition, query.cursor);
  const search = new SearchQuery(query.q);
  if (search.isEmpty) return { recordings: [], next_cursor: null, is_partial: isPartial };
  const filter = { accountId, workspaceId, statuses: parseStatuses(status) };
  const before = position === null ? null : Number(position);
  const { found, next } = await library.search(viewer, search, filter, before, limit);
  return {
    recordings: found.map(
      ({ recording, segments, hasMoreSegments }): FoundRecording => ({
        ...showRecording(store, recording, viewer),
        name_marks: search.marksIn(recording.sourceName ?? ""),
        hits: hitsOf(library.transcriptOf(viewer, recording), search, segments),
        has_more_hits: hasMoreSegments,
      }),
    ),
    next_cursor: next === null ? null : encodeCursor("s", String(next)),
    is_partial: isPartial,
  };
}

/** Returns the hits of a search in segments, which are given by their ids. */
function hitsOf(transcript: Transcript, search: SearchQuery, ids: readonly number[]): Hit[] {
  return ids
    .flatMap((id) => transcript.segment(id) ?? [])
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, text, startMilliseconds }) => ({
      segment: index,
      start: startMilliseconds / 1000,
      ...snippetOf(text, search.marksIn(text)),
    }));
}
