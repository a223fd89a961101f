import { type TObject, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import {
  languagesSchema,
  segmentPageSchema,
  transcriptionPageSchema,
  transcriptionSchema,
} from "../../api-contract/index.ts";
import type { Recording } from "../../database/index.ts";
import type { Library } from "../../library/index.ts";
import { exportQuery, layoutQuery } from "../shared/export-query.ts";
import { liveQuery } from "../shared/live/index.ts";
import { addCheckedRoute, type Call, type Operation, viewerOf } from "../shared/operations.ts";
import { listQuery, readQuery, segmentQuery } from "../shared/query.ts";

const noQuery = Type.Object({});

/** The operations of the API, by operationId. The routes and the OpenAPI document are built from this table. */
export const operations = {
  createTranscription: { method: "POST", path: "/transcriptions", scope: "transcriptions:write", query: noQuery },
  listTranscriptions: {
    method: "GET",
    path: "/transcriptions",
    scope: "transcriptions:read",
    query: listQuery,
    response: transcriptionPageSchema,
  },
  getTranscription: {
    method: "GET",
    path: "/transcriptions/:id",
    scope: "transcriptions:read",
    query: noQuery,
    response: transcriptionSchema,
  },
  deleteTranscription: {
    method: "DELETE",
    path: "/transcriptions/:id",
    scope: "transcriptions:delete",
    query: noQuery,
  },
  listSegments: {
    method: "GET",
    path: "/transcriptions/:id/segments",
    scope: "transcriptions:read",
    query: segmentQuery,
    response: segmentPageSchema,
  },
  exportTranscription: {
    method: "GET",
    path: "/transcriptions/:id/export",
    scope: "transcriptions:read",
    query: exportQuery,
  },
  listLanguages: { method: "GET", path: "/languages", scope: null, query: noQuery, response: languagesSchema },
} as const satisfies Record<string, Operation>;

/** Operations that the contract of version 1 does not have, by operationId. */
export const furtherOperations = {
  exportTranscriptionAs: {
    method: "GET",
    path: "/transcriptions/:id/exports/:format",
    scope: "transcriptions:read",
    query: layoutQuery,
  },
  getTranslation: {
    method: "GET",
    path: "/transcriptions/:id/translation",
    scope: "transcriptions:read",
    query: segmentQuery,
    response: segmentPageSchema,
  },
} as const satisfies Record<string, Operation>;

/**
 * Opens a live session, a WebSocket. The contract of version 1 does not have it, so the OpenAPI document describes it in
 * its introduction.
 */
export const openLiveSession = {
  method: "GET",
  path: "/live",
  scope: "transcriptions:write",
  query: liveQuery,
} as const satisfies Operation;

/** Adds the route of an operation on a recording. It checks, in the contract's order: scope, recording, query. */
export function addRecordingRoute<Query extends TObject>(
  api: AnyElysia,
  library: Library,
  operation: Operation<Query>,
  handle: (call: Call<Query> & { readonly recording: Recording }) => unknown,
): void {
  addCheckedRoute(api, operation, (request, params) => {
    const viewer = viewerOf(request);
    const recording = library.require(viewer, params.id ?? "");
    return handle({ request, params, viewer, recording, query: readQuery(request, operation.query) });
  });
}
