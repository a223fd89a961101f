import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import type { Scope } from "../accounts/index.ts";
import { languagesSchema, segmentPageSchema, transcriptionPageSchema, transcriptionSchema } from "../api/index.ts";
import type { Application, Library } from "../library/index.ts";
import type { Recording } from "../recordings/index.ts";
import { requireScope } from "./access.ts";
import { exportQuery, listQuery, readQuery, segmentQuery } from "./query.ts";
import { callerOf } from "./request-context.ts";

export interface Operation<Query extends TObject = TObject> {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path below the base path of the operation's API. `:id` is the id of a recording. */
  readonly path: string;
  /** The scope that a key needs; null: any key may do this. */
  readonly scope: Scope | null;
  readonly query: Query;
  /** Schema of the body of a 200 answer; absent if the handler creates the answer itself. */
  readonly response?: TSchema;
}

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

/** A request that has passed the checks of its operation. */
interface Call<Query extends TObject> {
  readonly request: Request;
  /** The parameters in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly viewer: Application;
  readonly query: Static<Query>;
}

/** Adds the route of an operation. It checks the scope, then the query. */
export function addRoute<Query extends TObject>(
  api: AnyElysia,
  operation: Operation<Query>,
  handle: (call: Call<Query>) => unknown,
): void {
  add(api, operation, (request, params) =>
    handle({ request, params, viewer: viewerOf(request), query: readQuery(request, operation.query) }),
  );
}

/** Adds the route of an operation on a recording. It checks, in the contract's order: scope, recording, query. */
export function addRecordingRoute<Query extends TObject>(
  api: AnyElysia,
  library: Library,
  operation: Operation<Query>,
  handle: (call: Call<Query> & { readonly recording: Recording }) => unknown,
): void {
  add(api, operation, (request, params) => {
    const viewer = viewerOf(request);
    const recording = library.require(viewer, params.id ?? "");
    return handle({ request, params, viewer, recording, query: readQuery(request, operation.query) });
  });
}

/** Adds a route that checks the scope. A recording may have any size, so no body is parsed into memory. */
function add(
  api: AnyElysia,
  { method, path, scope, response }: Operation,
  handle: (request: Request, params: Readonly<Record<string, string>>) => unknown,
): void {
  api.route(
    method,
    path,
    ({ request, params }) => {
      requireScope(request, scope);
      return handle(request, params ?? {});
    },
    { parse: "none", ...(response === undefined ? {} : { response: { 200: response } }) },
  );
}

/** Returns the application that sends a request. */
export function viewerOf(request: Request): Application {
  const { key, account } = callerOf(request);
  return { kind: "application", account, workspaceId: key.workspaceId };
}
