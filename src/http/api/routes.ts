import { createHash } from "node:crypto";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, Elysia } from "elysia";
import { toListed, toTranscription } from "../../api-contract/index.ts";
import type { Recording, Store } from "../../database/index.ts";
import {
  type ExportFormat,
  type ExportLayout,
  exportFormatSchema,
  exportFormats,
  uselessChoices,
} from "../../exports/index.ts";
import type { Library } from "../../library/index.ts";
import { programVersion } from "../../program/index.ts";
import type { Language } from "../../speech/index.ts";
import { isRecordingId } from "../../storage/index.ts";
import { requireScope } from "../shared/access.ts";
import { ApiError, invalidField } from "../shared/errors.ts";
import type { ExportAnswers } from "../shared/export-answers.ts";
import { acceptLiveSession, type LiveServices, liveSenderOf } from "../shared/live/index.ts";
import { addCheckedRoute, addRoute } from "../shared/operations.ts";
import {
  decodeCursor,
  PageFiller,
  parseStatuses,
  parseTag,
  parseTime,
  readQuery,
  segmentPage,
  tagQuery,
  toPage,
} from "../shared/query.ts";
import { callerOf, readerOf } from "../shared/request-context.ts";
import type { TranscriptionCreator } from "./create-transcription.ts";
import { addEditingRoutes, type EditingServices } from "./editing/routes.ts";
import { addRecordingRoute, furtherOperations, openLiveSession, operations } from "./operations.ts";

export interface ApiServices extends Pick<EditingServices, "queue" | "limits" | "models" | "searchIndexer"> {
  readonly store: Store;
  readonly library: Library;
  readonly creator: TranscriptionCreator;
  readonly exports: ExportAnswers;
  /** Returns the languages of the model in use. */
  readonly languages: () => readonly Language[];
  readonly live: LiveServices;
}

/** Creates the routes of the public API, below its base path. */
export function apiRoutes(services: ApiServices): AnyElysia {
  const { store, library, creator, exports, languages, live } = services;
  const api = new Elysia({ name: "api" });

  addRoute(api, operations.createTranscription, ({ request }) => creator.create(request));

  addRoute(api, operations.listTranscriptions, ({ request, viewer, query }) => {
    const { limit } = query;
    const filter = {
      tag: parseTag(readQuery(request, tagQuery).tag),
      statuses: parseStatuses(query.status),
      createdAfter: parseTime("created_after", query.created_after),
      createdBefore: parseTime("created_before", query.created_before),
      beforeId: decodeCursor("r", isRecordingId, query.cursor) ?? undefined,
    };
    const { entries, last } = PageFiller.fill(library.list(viewer, filter, limit + 1), limit, (recording) =>
      toListed(store, recording),
    );
    return toPage(entries, "r", last?.id ?? null);
  });

  addRecordingRoute(api, library, operations.getTranscription, ({ recording }) => toTranscription(store, recording));

  addRecordingRoute(api, library, operations.deleteTranscription, async ({ viewer, recording }) => {
    await library.remove(viewer, recording.id);
    return new Response(null, { status: 204 });
  });

  addRecordingRoute(api, library, operations.listSegments, ({ request, viewer, recording, query }) => {
    const transcript = library.transcript(viewer, recording);
    library.reads.viewed(readerOf(request, "v1"), [recording]);
    return segmentPage(query, (from) => (query.words ? transcript.wordsFrom(from) : transcript.segmentsFrom(from)));
  });

  addRecordingRoute(api, library, furtherOperations.getTranslation, ({ request, viewer, recording, query }) => {
    const translation = library.translation(viewer, recording);
    library.reads.viewed(readerOf(request, "v1"), [recording]);
    return segmentPage(query, (from) => translation.segmentsFrom(from, query.words));
  });

  addRecordingRoute(api, library, operations.exportTranscription, ({ request, viewer, recording, query }) => {
    const { format } = query;
    const transcript = library.transcript(viewer, recording);
    const headers = { ETag: entityTag(recording, format), "Cache-Control": "private, no-cache" };
    if (etagMatches(request.headers.get("if-none-match"), headers.ETag)) {
      return new Response(null, { status: 304, headers });
    }
    library.reads.exported(readerOf(request, "v1"), recording, format);
    return exports.answer({ request, owner: viewer.account.id, transcript, format, headers });
  });

  addRecordingRoute(api, library, furtherOperations.exportTranscriptionAs, (call) => {
    const { request, params, viewer, recording } = call;
    const { text, ...layout } = call.query;
    const format = exportFormatOf(params.format ?? "", layout);
    const transcript =
      text === "translation" ? library.translation(viewer, recording) : library.transcript(viewer, recording);
    const names = layout.speakers === "names" ? [...transcript.speakerNames()] : [];
    const headers = {
      ETag: entityTag(recording, format, [layout, names, ...(text === undefined ? [] : [text])]),
      "Cache-Control": "private, no-cache",
    };
    if (etagMatches(request.headers.get("if-none-match"), headers.ETag)) {
      return new Response(null, { status: 304, headers });
    }
    library.reads.exported(readerOf(request, "v1"), recording, format);
    return exports.answer({ request, owner: viewer.account.id, transcript, format, layout, headers });
  });

  addCheckedRoute(api, openLiveSession, (request) => {
    // The messages have the transcript, so the key must be able to read it.
    requireScope(request, "transcriptions:read");
    const answer = acceptLiveSession(request, liveSenderOf(request, { store, now: live.now }), live);
    creator.requests.showLimits(request, callerOf(request).account);
    return answer;
  });

  addEditingRoutes(api, {
    ...services,
    ...{ idempotency: creator.idempotency, now: live.now },
  });

  addRoute(api, operations.listLanguages, () => ({ data: languages().map(({ code, name }) => ({ code, name })) }));

  return api;
}

/**
 * Returns the export format that a path names.
 * @throws 422 under `format` for an unknown one, and under the name of each choice that has no effect on it
 */
function exportFormatOf(format: string, layout: ExportLayout): ExportFormat {
  if (!Value.Check(exportFormatSchema, format)) {
    throw invalidField("format", `It must be one of ${exportFormats.join(", ")}.`);
  }
  const useless = uselessChoices(format, layout);
  if (useless.length === 0) return format;
  const errors = Object.fromEntries(useless.map((name) => [name, [`It has no effect on ${format}.`]]));
  throw new ApiError("validation_failed", "The request is not valid.", { errors });
}

/**
 * Returns the ETag of an export without generating the file: the same recording gives the same bytes in the same
 * program version.
 * @param form what else the bytes depend on
 */
function entityTag(recording: Recording, format: ExportFormat, form: readonly unknown[] = []): string {
  const identity = JSON.stringify([recording.id, recording.updatedAt, format, programVersion, ...form]);
  return `"${createHash("sha256").update(identity).digest("base64url").slice(0, 27)}"`;
}

/** Evaluates `If-None-Match` (RFC 9110, 13.1.2): weak comparison with each tag of a list. */
function etagMatches(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}
