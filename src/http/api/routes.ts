import { createHash } from "node:crypto";
import { type AnyElysia, Elysia } from "elysia";
import { toSegment, toTranscription } from "../../api/index.ts";
import type { ExportFormat } from "../../exports/index.ts";
import type { Library } from "../../library/index.ts";
import { programVersion } from "../../program/index.ts";
import type { Recording, StoredSegment } from "../../recordings/index.ts";
import type { Language } from "../../speech/index.ts";
import { isRecordingId, type Store } from "../../storage/index.ts";
import type { ExportAnswers } from "../shared/export-answers.ts";
import { MAX_OPEN_ANSWERS, OpenAnswers } from "../shared/open-answers.ts";
import { addRoute } from "../shared/operations.ts";
import { decodeCursor, encodeCursor, firstPage, parseStatuses, parseTime } from "../shared/query.ts";
import { contextOf } from "../shared/request-context.ts";
import type { TranscriptionCreator } from "./create-transcription.ts";
import { addRecordingRoute, operations } from "./operations.ts";

export interface ApiServices {
  readonly store: Store;
  readonly library: Library;
  readonly creator: TranscriptionCreator;
  readonly exports: ExportAnswers;
  /** Returns the languages of the model in use. */
  readonly languages: () => readonly Language[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const isSegmentIndex = (text: string) => /^(0|[1-9]\d{0,8})$/.test(text);

/** Upper bound of the size of a page of 1,000 segments. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** The same with words: each takes up to 80 bytes more than its text. */
const MAX_WORDS_PAGE_BYTES = 16 * 1024 * 1024;

/** Creates the routes of the public API, below its base path. */
export function apiRoutes(services: ApiServices): AnyElysia {
  const { store, library, creator, exports, languages, now } = services;
  const pages = new OpenAnswers(MAX_OPEN_ANSWERS, "pages of segments of this account", now);
  const api = new Elysia({ name: "api" });

  addRoute(api, operations.createTranscription, ({ request }) => creator.create(request));

  addRoute(api, operations.listTranscriptions, ({ viewer, query }) => {
    const { limit } = query;
    const filter = {
      statuses: parseStatuses(query.status),
      createdAfter: parseTime("created_after", query.created_after),
      createdBefore: parseTime("created_before", query.created_before),
      beforeId: decodeCursor("r", isRecordingId, query.cursor) ?? undefined,
    };
    const { page, last } = firstPage(library.list(viewer, filter, limit + 1), limit);
    const data = page.map((recording) => {
      const { progress, ...rest } = toTranscription(store, recording);
      return { ...rest, progress: { step: progress.step } };
    });
    return { data, has_more: last !== null, next_cursor: last === null ? "" : encodeCursor("r", last.id) };
  });

  addRecordingRoute(api, library, operations.getTranscription, ({ recording }) => toTranscription(store, recording));

  addRecordingRoute(api, library, operations.deleteTranscription, async ({ viewer, recording }) => {
    await library.remove(viewer, recording.id);
    return new Response(null, { status: 204 });
  });

  addRecordingRoute(api, library, operations.listSegments, ({ request, viewer, recording, query }) => {
    const { limit, cursor, words } = query;
    const from = Number(decodeCursor("i", isSegmentIndex, cursor) ?? 0);
    const transcript = library.transcript(viewer, recording);
    pages.open(viewer.account.id, contextOf(request).connection).send(words ? MAX_WORDS_PAGE_BYTES : MAX_PAGE_BYTES);
    const segments = words ? transcript.segmentsWithWords(from, limit + 1) : transcript.segments(from, limit + 1);
    const { page, last } = firstPage<StoredSegment>(segments, limit);
    return {
      data: page.map((segment) => toSegment(segment)),
      has_more: last !== null,
      next_cursor: last === null ? "" : encodeCursor("i", String(last.index + 1)),
    };
  });

  addRecordingRoute(api, library, operations.exportTranscription, ({ request, viewer, recording, query }) => {
    const { format } = query;
    const transcript = library.transcript(viewer, recording);
    const headers = { ETag: entityTag(recording, format), "Cache-Control": "private, no-cache" };
    if (etagMatches(request.headers.get("if-none-match"), headers.ETag)) {
      return new Response(null, { status: 304, headers });
    }
    return exports.answer({ request, owner: viewer.account.id, transcript, format, headers });
  });

  addRoute(api, operations.listLanguages, () => ({ data: languages().map(({ code, name }) => ({ code, name })) }));

  return api;
}

/**
 * Returns the ETag of an export without generating the file: the same recording gives the same bytes in the same
 * program version.
 */
function entityTag(recording: Recording, format: ExportFormat): string {
  const identity = JSON.stringify([recording.id, recording.updatedAt, format, programVersion]);
  return `"${createHash("sha256").update(identity).digest("base64url").slice(0, 27)}"`;
}

/** Evaluates `If-None-Match` (RFC 9110, 13.1.2): weak comparison with each tag of a list. */
function etagMatches(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}
