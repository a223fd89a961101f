import type { Static, TObject, TOptional, TSchema } from "@sinclair/typebox";

/** Access to a route: for everybody, even without a session; or for people with at least this role. */
export type Access = "public" | "reader" | "member" | "operator";

/** A route under `/console/data`. Every method except GET needs the header `x-transcribe-console: 1`. */
export interface Route {
  /** Method and path, in which the names of parameters begin with a colon. */
  readonly at: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  /**
   * The least role that may use the route. The library decides which recordings a person sees and changes; for routes
   * without a recording, this decides alone.
   */
  readonly access: Access;
  readonly query?: TObject;
  /** Schema of the JSON in the body; or a form, of which the handler streams a file. */
  readonly body?: TSchema | "form";
  /** Schema of the JSON in the response; or the bytes of a file, a stream of events, a WebSocket, or nothing (204). */
  readonly answer: TSchema | "file" | "events" | "socket" | "nothing";
  /** HTTP status of a JSON response; by default 200. */
  readonly status?: 201;
}

/** A set of routes by their names. */
export type Routes = Readonly<Record<string, Route>>;

/** Names of the parameters in a path. */
type ParameterNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters in the path of a route. */
export type PathOf<R extends Route> = Readonly<Record<ParameterNames<R["at"]>, string>>;

/** The query as the server receives it. */
export type QueryOf<R extends Route> = R extends { readonly query: infer Q extends TObject } ? Static<Q> : undefined;

/** The JSON in the body. */
export type BodyOf<R extends Route> = R extends { readonly body: infer B extends TSchema } ? Static<B> : undefined;

/** The JSON in the response; `Response` for bytes. */
export type AnswerOf<R extends Route> = R["answer"] extends TSchema
  ? Static<R["answer"]>
  : R["answer"] extends "nothing"
    ? undefined
    : Response;

/** Names of the query's parameters that a request may leave out. */
type OptionalNames<Q extends TObject> = {
  [Name in keyof Q["properties"]]: Q["properties"][Name] extends TOptional<TSchema> | HasDefault ? Name : never;
}[keyof Q["properties"]];

/** The query as the page sends it. Null and undefined are not sent. */
type SentQuery<Q extends TObject> = Readonly<Omit<Static<Q>, OptionalNames<Q>>> & {
  readonly [Name in OptionalNames<Q>]?: Static<Q["properties"][Name]> | null | undefined;
};

/** All parts of a request to a route: the parameters of its path, its query and its JSON body. */
export type RequestOf<R extends Route> = PathOf<R> &
  (R extends { readonly query: infer Q extends TObject }
    ? Record<never, never> extends SentQuery<Q>
      ? { readonly query?: SentQuery<Q> }
      : { readonly query: SentQuery<Q> }
    : unknown) &
  (R extends { readonly body: infer B extends TSchema } ? { readonly body: Static<B> } : unknown);

interface HasDefault {
  readonly default: NonNullable<unknown>;
}

/** Returns a schema with a default, so that a request may leave the parameter out and the server always receives it. */
export function withDefault<T extends TSchema>(schema: T, value: Static<T> & NonNullable<unknown>): T & HasDefault {
  return { ...schema, default: value };
}
