import { type AnyElysia, type Context, Elysia } from "elysia";
import type { Store } from "../../database/index.ts";
import { readQuery } from "../../http/index.ts";
import {
  type Access,
  type AnswerOf,
  type BodyOf,
  type PathOf,
  type QueryOf,
  type Route,
  type Routes,
  routes,
} from "../contract/index.ts";
import { readBody } from "./read-body.ts";
import { type SignedIn, viewerOf } from "./request-session.ts";

/** A request to a route, with the parameters of its path, and its query and body as the schemas demand them. */
type RequestTo<R extends Route> = PathOf<R> & {
  readonly request: Request;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  /** Returns the person who is signed in, with the accounts of this moment. */
  readonly viewer: () => SignedIn;
  /** The headers of the answer. */
  readonly headers: Context["set"]["headers"];
};

/** The handlers of a set of routes. */
export type Handlers<Declared extends Routes> = {
  readonly [Name in keyof Declared]: (
    request: RequestTo<Declared[Name]>,
  ) => AnswerOf<Declared[Name]> | Promise<AnswerOf<Declared[Name]>>;
};

const declared: readonly (readonly [name: string, route: Route])[] = Object.entries(routes);

/**
 * Creates the data routes of the console. Only the bodies that the contract describes are read in advance: a recording
 * of any size is streamed to disk.
 * @param prefix URL path of the routes
 */
export function createDataRoutes(prefix: string, store: Store, handlers: Handlers<typeof routes>): AnyElysia {
  const app = new Elysia({ name: "console-data", prefix });
  // The type of `handlers` has checked that each handler fits its route.
  const byName: Readonly<Record<string, (request: never) => unknown>> = handlers;
  for (const [name, { at, query, body, answer, status = 200 }] of declared) {
    const [method = "GET", path = "/"] = at.split(" ");
    const isJson = typeof answer !== "string";
    app.route(
      method,
      path,
      async ({ request, params, set }) => {
        if (isJson) set.status = status;
        const checked = {
          ...params,
          request,
          headers: set.headers,
          query: query === undefined ? undefined : readQuery(request, query),
          body: typeof body === "object" ? await readBody(request, body) : undefined,
          viewer: () => viewerOf(request, store),
        };
        const answered = await byName[name]?.(checked as never);
        return answer === "nothing" ? new Response(null, { status: 204 }) : answered;
      },
      { parse: "none", ...(isJson ? { response: { [status]: answer } } : {}) },
    );
  }
  return app;
}

const patterns = declared.map(([, { at, access }]) => ({
  pattern: new RegExp(`^${at.replaceAll(/:\w+/g, "[^/]+")}$`),
  access,
}));

/**
 * Returns who may use a path. An unknown one is for operators, who learn that there is none.
 * @param path without the prefix of the data routes
 */
export function accessOf(method: string, path: string): Access {
  const text = `${method === "HEAD" ? "GET" : method} ${path}`;
  return patterns.find(({ pattern }) => pattern.test(text))?.access ?? "operator";
}
