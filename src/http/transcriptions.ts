import { Elysia } from "elysia";
import { type Recording, type Recordings, readSegments } from "../recordings/index.ts";
import { type DataDirectory, type Store, syncDirectory } from "../storage/index.ts";
import { requireScope } from "./access.ts";
import type { TranscriptionCreator } from "./create-transcription.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { ApiError, notFound } from "./errors.ts";
import type { ExportAnswers } from "./export-answers.ts";
import { MAX_OPEN_ANSWERS, OpenAnswers } from "./open-answers.ts";
import { listQuery, parseStatuses, parseTime, readQuery, segmentQuery } from "./query.ts";
import { callerOf, contextOf } from "./request-context.ts";
import {
  segmentPageSchema,
  type ToTranscription,
  toSegment,
  transcriptionPageSchema,
  transcriptionSchema,
} from "./resources.ts";

export interface TranscriptionServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly creator: TranscriptionCreator;
  readonly exports: ExportAnswers;
  readonly toTranscription: ToTranscription;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const segmentIndex = /^(0|[1-9]\d{0,8})$/;

/** Upper bound of the size of a page of 1,000 segments. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Routes under /transcriptions: create and list; read and delete one recording; its segments. Exports are in
 * exports.ts.
 */
export function transcriptionRoutes(services: TranscriptionServices) {
  const { store, recordings, dataDirectory, creator, exports, toTranscription, now } = services;
  const pages = new OpenAnswers(MAX_OPEN_ANSWERS, "pages of segments of this account", now);
  return new Elysia({ name: "transcriptions", prefix: "/transcriptions" })
    .post(
      "",
      ({ request }) => {
        requireScope(request, "transcriptions:write");
        return creator.create(request);
      },
      // The recording may have any size, so the body is streamed to disk and never parsed into memory.
      { parse: "none" },
    )
    .get(
      "",
      ({ request }) => {
        requireScope(request, "transcriptions:read");
        const { limit, cursor, ...query } = readQuery(request, listQuery);
        const { key, account } = callerOf(request);
        const filter = {
          accountId: account.id,
          workspaceId: key.workspaceId ?? undefined,
          statuses: parseStatuses(query.status),
          createdAfter: parseTime("created_after", query.created_after),
          createdBefore: parseTime("created_before", query.created_before),
          beforeId: decodeCursor("r", uuid, cursor) ?? undefined,
        };
        const rows = recordings.list(filter, limit + 1);
        const page = rows.slice(0, limit);
        const last = page.at(-1);
        const hasMore = rows.length > limit && last !== undefined;
        const data = page.map((recording) => {
          const { progress, ...rest } = toTranscription(recording);
          return { ...rest, progress: { step: progress.step } };
        });
        return { data, has_more: hasMore, next_cursor: hasMore ? encodeCursor("r", last.id) : "" };
      },
      { response: { 200: transcriptionPageSchema } },
    )
    .get(
      "/:id",
      ({ request, params }) => {
        requireScope(request, "transcriptions:read");
        return toTranscription(requireRecording(recordings, request, params.id));
      },
      { response: { 200: transcriptionSchema } },
    )
    .delete("/:id", async ({ request, params }) => {
      requireScope(request, "transcriptions:delete");
      const { id } = requireRecording(recordings, request, params.id);
      if (!recordings.delete(id)) throw undeletable(recordings, id);
      exports.removeDeleted();
      await dataDirectory.filesOf(id).removeAll();
      await recordings.rows.removeDeleted(id);
      await syncDirectory(dataDirectory.uploads);
      return new Response(null, { status: 204 });
    })
    .get(
      "/:id/segments",
      ({ request, params }) => {
        requireScope(request, "transcriptions:read");
        const recording = requireRecording(recordings, request, params.id);
        const { limit, cursor } = readQuery(request, segmentQuery);
        const from = Number(decodeCursor("i", segmentIndex, cursor) ?? 0);
        requireCompleted(recording);
        pages.open(callerOf(request).account.id, contextOf(request).connection).send(MAX_PAGE_BYTES);
        const rows = readSegments(store, recording.id, from, limit + 1);
        const hasMore = rows.length > limit;
        return {
          data: rows.slice(0, limit).map(toSegment),
          has_more: hasMore,
          next_cursor: hasMore ? encodeCursor("i", String(from + limit)) : "",
        };
      },
      { response: { 200: segmentPageSchema } },
    );
}

/**
 * Returns the recording that a request names, if its key may access it.
 * @throws 404 when the id is malformed, unknown or belongs to another account: the caller can't distinguish them
 * @throws 403 when the recording belongs to this account but is not in the workspace of the key
 */
export function requireRecording(recordings: Recordings, request: Request, id: string): Recording {
  const { key, account } = callerOf(request);
  const recording = uuid.test(id) ? recordings.get(id) : null;
  if (recording === null || recording.accountId !== account.id) throw notFound();
  if (key.workspaceId !== null && recording.workspaceId !== key.workspaceId) {
    throw new ApiError("workspace_scope_mismatch", "This key is pinned to another workspace.");
  }
  return recording;
}

/** Checks that a recording has completed. @throws 409 when it has not */
export function requireCompleted(recording: Recording): void {
  if (recording.status === "completed") return;
  throw new ApiError("transcription_is_not_ready", `The transcription is ${recording.status}.`);
}

function undeletable(recordings: Recordings, id: string): ApiError {
  const recording = recordings.get(id);
  if (recording === null) return notFound();
  if (recording.heldAt !== null)
    return new ApiError("forbidden", "The operator keeps this recording from being deleted.");
  return new ApiError(
    "transcription_still_processing",
    `The transcription is ${recording.status}; delete it when it has ended.`,
  );
}
