import { listAccounts, listWorkspaces } from "../../../accounts/index.ts";
import { decodeCursor, encodeCursor, PageFiller, parseStatuses } from "../../../http/index.ts";
import { requireActive } from "../../../intake/index.ts";
import type { Viewer } from "../../../library/index.ts";
import { SearchQuery, snippetOf } from "../../../search/index.ts";
import { isRecordingId } from "../../../storage/index.ts";
import type { Transcript } from "../../../transcripts/index.ts";
import type {
  FoundRecording,
  Hit,
  QueryOf,
  RecordingPage,
  recordingRoutes,
  UploadOptions,
} from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { MAX_WORKSPACES, requireAccount, requireWorkspace } from "../lookups.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { admitAgain, readerOf, type SignedIn } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named, showRecording } from "../show-recording.ts";

/**
 * Creates the handlers that list, search, show, create and delete recordings.
 * @param isPartial whether some recordings are not in the search index yet
 */
export function recordingHandlers(
  services: ConsoleServices,
  facts: RecordingFacts,
  isPartial: () => boolean,
): Handlers<typeof recordingRoutes> {
  const { store, library, creator, now } = services;
  return {
    uploadOptions: ({ viewer }) => uploadOptions(services, viewer()),

    recordings: ({ query: { q, ...query }, viewer }) =>
      q === undefined
        ? listRecordings(services, viewer(), query)
        : findRecordings(services, viewer(), { ...query, q }, isPartial()),

    /** Creates a recording for an account, with the same limits as a request of the account to the API. */
    async createRecording({ request, query, viewer }) {
      const choose = () => {
        const account = requireAccount(services, viewer(), query.account);
        library.requireCreation(viewer(), account.id);
        const workspace = requireWorkspace(store, account, query.workspace);
        requireActive(account, now());
        return { kind: "application" as const, account, workspaceId: workspace?.id ?? null };
      };
      const requireAccess = () => {
        admitAgain(request);
        choose();
      };
      const recording = await creator.createFor({ ...choose(), requireAccess }, request);
      return await facts.show(viewer(), recording);
    },

    recording: ({ id, viewer }) => facts.show(viewer(), library.require(viewer(), id)),

    async deleteRecording({ id, viewer }) {
      await library.remove(viewer(), id);
      return undefined;
    },
  };
}

function uploadOptions(services: ConsoleServices, viewer: Viewer): UploadOptions {
  const { store, library, settings, modelInUse, models, now } = services;
  const { limits, fetch } = settings();
  const model = modelInUse();
  const accounts = listAccounts(store)
    .filter(({ id }) => library.sees(viewer, id))
    .filter(({ standing, subscribedUntil }) => standing === "active" && (subscribedUntil ?? Infinity) > now())
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
  const { entries } = PageFiller.fill(accounts, accounts.length, (account) => ({
    ...named(account),
    workspaces: listWorkspaces(store, account).slice(0, MAX_WORKSPACES).map(named),
  }));
  return {
    accounts: entries,
    languages: model.languages.map(({ code, name }) => ({ code, name })),
    translates: models.translationRefusal(model.id) === null,
    max_bytes: limits.upload_bytes,
    links: fetch.enabled,
  };
}

type RecordingsQuery = Omit<QueryOf<typeof recordingRoutes.recordings>, "q">;

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
  viewer: SignedIn,
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
  library.reads.viewed(
    readerOf(viewer),
    found.filter(({ segments }) => segments.length > 0).map(({ recording }) => recording),
  );
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
