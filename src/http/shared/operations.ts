import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import type { Scope } from "../../keys/index.ts";
import type { KeyHolder } from "../../library/index.ts";
import { requireScope } from "./access.ts";
import { readQuery } from "./query.ts";
import { callerOf } from "./request-context.ts";

export interface Operation<Query extends TObject = TObject> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Path below the base path of the operation's API. `:id` is the id of a recording, `:format` a format of exports,
   * `:number` the number of a revision, `:voice` the id of a voice.
   */
  readonly path: string;
  /** The scope that a key needs; null: any key may do this. */
  readonly scope: Scope | null;
  readonly query: Query;
  /** Schema of a body in JSON; absent for none, and for a form. */
  readonly body?: TObject;
  /** Schema of the body of a 200 answer; absent if the handler creates the answer itself. */
  readonly response?: TSchema;
}

/** A request that has passed the checks of its operation. */
export interface Call<Query extends TObject> {
  readonly request: Request;
  /** The parameters in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly viewer: KeyHolder;
  readonly query: Static<Query>;
}

/** Adds the route of an operation. It checks the scope, then the query. */
export function addRoute<Query extends TObject>(
  api: AnyElysia,
  operation: Operation<Query>,
  handle: (call: Call<Query>) => unknown,
): void {
  addCheckedRoute(api, operation, (request, params) =>
    handle({ request, params, viewer: viewerOf(request), query: readQuery(request, operation.query) }),
  );
}

/** Adds a route that checks the scope. A recording may have any size, so no body is parsed into memory. */
export function addCheckedRoute(
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
export function viewerOf(request: Request): KeyHolder {
  const { key, account } = callerOf(request);
  return { kind: "application", account, workspaceId: key.workspaceId, actor: `key:${key.id}` };
}
