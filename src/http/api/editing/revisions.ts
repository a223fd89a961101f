import type { AnyElysia } from "elysia";
import { timestamp } from "../../../api-contract/index.ts";
import type { Recording } from "../../../database/index.ts";
import { ExportQueue } from "../../../exports/index.ts";
import { type KeyHolder, LibraryError } from "../../../library/index.ts";
import type { SearchIndexer } from "../../../search/index.ts";
import { type Comparison, type EarlierState, speakerLabel } from "../../../transcripts/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import { notFound } from "../../shared/errors.ts";
import { decodeCursor, PageFiller, segmentPage, toPage } from "../../shared/query.ts";
import { heldBody, readerOf } from "../../shared/request-context.ts";
import { addRecordingRoute } from "../operations.ts";
import { addEditRoute, type EditServices, entityTagOf } from "./edit-route.ts";
import { LastResult } from "./last-result.ts";
import { editingOperations } from "./operations.ts";
import { preconditionFailed, requireRevision } from "./preconditions.ts";

interface RevisionServices extends EditServices {
  readonly searchIndexer: Pick<SearchIndexer, "add">;
}

const isNumber = (text: string) => /^(0|[1-9]\d{0,8})$/.test(text);

/** Adds the routes that list, read, compare and restore the revisions of a transcript. */
export function addRevisionRoutes(api: AnyElysia, services: RevisionServices): void {
  const { store, library, searchIndexer } = services;
  // An earlier state of a transcript has all of it in memory.
  const states = new ExportQueue(1);
  const lastState = new LastResult<EarlierState>();
  const lastComparison = new LastResult<Comparison>();

  addRecordingRoute(api, library, editingOperations.listRevisions, ({ request, viewer, recording, query }) => {
    const transcript = library.transcript(viewer, recording);
    const before = decodeCursor("n", isNumber, query.cursor);
    const found = transcript.revisions(before === null ? null : Number(before), query.limit + 1);
    const { entries, last } = PageFiller.fill(found, query.limit, ({ number, author, at, action, segments }) => ({
      ...{ number, author: nameOfActor(store, author, "others"), at: timestamp(at), action, segments },
    }));
    const page = toPage(entries, "n", last?.number ?? null);
    return withEntityTag(request, { ...page, revision: transcript.revision });
  });

  addRecordingRoute(api, library, editingOperations.getRevision, ({ request, params, viewer, recording, query }) => {
    const number = revisionNumber(params);
    return states.run(
      viewer.account.id,
      async () => {
        const { id } = recording;
        // A revision can be removed or replaced only by a later one.
        const { revision } = library.transcript(viewer, id);
        const { segments, speakers } = await lastState.of([id, number, revision], () =>
          library.revisions.stateAfter(viewer, id, number),
        );
        library.reads.viewed(readerOf(request, "v1"), [recording]);
        const page = segmentPage(query, (from) =>
          segments.slice(from, from + query.limit + 1).map(({ words: _, ...segment }, place) => ({
            ...segment,
            index: from + place,
            speaker: speakers.indexOf(segment.speaker),
          })),
        );
        return withEntityTag(request, { ...page, revision: number });
      },
      request.signal,
    );
  });

  addRecordingRoute(api, library, editingOperations.compareRevision, (call) => {
    const { request, params, viewer, recording, query } = call;
    const number = revisionNumber(params);
    const from = Number(decodeCursor("d", isNumber, query.cursor) ?? 0);
    return states.run(
      viewer.account.id,
      async () => {
        const { revision } = library.transcript(viewer, recording.id);
        const other = query.other ?? revision;
        const compared = await lastComparison.of([recording.id, number, other, revision], () =>
          library.revisions.compare(viewer, recording.id, number, other),
        );
        const { differences, speakersBefore, speakersAfter } = compared;
        library.reads.viewed(readerOf(request, "v1"), [recording]);
        const show = (segments: (typeof differences)[number]["before"], speakers: readonly number[]) =>
          segments.map(({ startMilliseconds, speaker, text }) => ({
            start: startMilliseconds / 1000,
            speaker: speakerLabel(speakers.indexOf(speaker)),
            text,
          }));
        const { entries } = PageFiller.fill(differences.slice(from), query.limit, ({ index, before, after }) => ({
          ...{ index, before: show(before, speakersBefore), after: show(after, speakersAfter) },
        }));
        const total = differences.length;
        const reached = from + entries.length;
        return {
          ...toPage(entries, "d", reached < total ? reached : null),
          ...{ total, revision: other },
        };
      },
      request.signal,
    );
  });

  addEditRoute(api, services, editingOperations.restoreRevision, (call) => {
    const { request, params, viewer, recording } = call;
    const number = revisionNumber(params);
    const expected = requireRevision(request, library.transcript(viewer, recording), viewer, services);
    return states.run(
      viewer.account.id,
      async () => {
        const restoring = library.revisions.restore(viewer, recording.id, number, expected);
        const answer = {
          revision: await restoring.catch((error) => throwIfChanged(error, request, viewer, recording, expected)),
        };
        // The new texts may lack in the index.
        searchIndexer.add(recording.id);
        call.store(answer);
        return answer;
      },
      request.signal,
    );
  });

  /** Converts the error of a restoration during which somebody else has corrected the transcript. */
  function throwIfChanged(error: unknown, request: Request, viewer: KeyHolder, { id }: Recording, seen: number): never {
    const isChanged =
      error instanceof LibraryError && error.refusal.kind === "not_corrected" && error.refusal.reason === "not_latest";
    if (!isChanged) throw error;
    throw preconditionFailed(request, library.transcript(viewer, id), seen, viewer, services);
  }
}

/** @throws 404 for a path without the number of a revision */
function revisionNumber({ number = "" }: Readonly<Record<string, string>>): number {
  if (!isNumber(number)) throw notFound();
  return Number(number);
}

/** Returns an answer whose ETag is its revision. */
function withEntityTag<Answer extends { readonly revision: number }>(request: Request, answer: Answer): Response {
  const headers = { "Content-Type": "application/json", ETag: entityTagOf(answer.revision) };
  return new Response(heldBody(request, JSON.stringify(answer)), { headers });
}
