import { createHash } from "node:crypto";
import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { AnyElysia } from "elysia";
import type { Recording, Store, Writer } from "../../../database/index.ts";
import type { KeyHolder, Library } from "../../../library/index.ts";
import { requireAccess } from "../../shared/access.ts";
import { refusalOf } from "../../shared/error-envelope.ts";
import { ApiError } from "../../shared/errors.ts";
import { addCheckedRoute, type Call, type Operation, viewerOf } from "../../shared/operations.ts";
import { readQuery } from "../../shared/query.ts";
import { callerOf } from "../../shared/request-context.ts";
import { readSmallBody } from "../../shared/small-body.ts";
import { type Idempotency, IdempotentCreate } from "../idempotency.ts";

export interface EditServices {
  readonly store: Store;
  readonly library: Library;
  readonly idempotency: Idempotency;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Limits of a body. The longest has a hundred corrected segments. */
const BODY_LIMITS = { maxBytes: 1024 * 1024, maxMilliseconds: 30_000 };

type PathParameters = Readonly<Record<string, string>>;

type EditOperation<Query extends TObject, Body extends TObject> = Operation<Query> & { readonly body: Body };

/** A request that changes something. */
export interface ChangeCall<Query extends TObject, Body extends TObject> extends Call<Query> {
  readonly body: Static<Body>;
  /**
   * Stores the answer for a request that is repeated with its Idempotency-Key. Call it in the transaction of the change,
   * if there is a single one.
   */
  readonly store: (answer: object, writer?: Writer) => void;
}

/** A request that changes a recording. */
export interface EditCall<Query extends TObject, Body extends TObject> extends ChangeCall<Query, Body> {
  readonly recording: Recording;
}

/**
 * Adds the route of an operation that changes a recording, as `addChangeRoute`.
 * @param handle returns the answer; of a POST it calls `store` with the same one
 * @param status of a successful answer
 */
export function addEditRoute<Query extends TObject, Body extends TObject>(
  api: AnyElysia,
  services: EditServices,
  operation: EditOperation<Query, Body>,
  handle: (call: EditCall<Query, Body>) => object | Promise<object>,
  status: 200 | 202 = 200,
): void {
  const { library } = services;
  const check = (viewer: KeyHolder, { id = "" }: PathParameters) => {
    library.require(viewer, id);
    return id;
  };
  const edit = (call: ChangeCall<Query, Body>) => {
    const recording = library.requireChangeable(call.viewer, call.params.id ?? "");
    return handle({ ...call, recording });
  };
  addChangeRoute(api, services, operation, check, edit, status);
}

/**
 * Adds the route of an operation that changes something. It checks the scope, the subject, the Idempotency-Key, the query
 * and the body, in this order, and then the key again, because a body may be slow. The handler looks for the subject again.
 * @param check throws if there is no subject for the viewer; returns the id of its recording, or null
 */
export function addChangeRoute<Query extends TObject, Body extends TObject>(
  api: AnyElysia,
  { store, idempotency, now }: Omit<EditServices, "library">,
  operation: EditOperation<Query, Body>,
  check: (viewer: KeyHolder, params: PathParameters) => string | null,
  handle: (call: ChangeCall<Query, Body>) => object | Promise<object>,
  status: 200 | 202 = 200,
): void {
  const { method, path, scope } = operation;
  addCheckedRoute(api, { method, path, scope, query: operation.query }, async (request, params) => {
    const viewer = viewerOf(request);
    const recordingId = check(viewer, params);
    const owner = { accountId: viewer.account.id, workspaceId: viewer.workspaceId };
    // Other methods give the same result however often a request is sent, and their answers may have names.
    using idempotent = method === "POST" ? idempotency.begin(request, owner) : new IdempotentCreate();
    const query = readQuery(request, operation.query);
    const { text, value: body } = await readJson(request, operation.body);
    const fingerprint = fingerprintOf(request, text);
    requireAccess(store, callerOf(request).key.id, now());
    if (idempotent.isReplay) return withRevision(idempotent.replay(fingerprint));
    const storeAnswer = (answer: object, writer: Writer = store) =>
      idempotent.store({ fingerprint, status, body: JSON.stringify(answer), recordingId }, writer);
    try {
      const answer = await handle({ request, params, viewer, query, body, store: storeAnswer });
      return withRevision(toResponse(JSON.stringify(answer), status));
    } catch (error) {
      const refusal = refusalOf(error, request);
      if (refusal === null) throw error;
      idempotent.storeRefusal(fingerprint, refusal);
      throw refusal;
    }
  });
}

/**
 * Corrects a transcript for a request, and stores the answer with the correction.
 * @param expected the revision that must be the latest
 * @returns the answer: the latest revision
 */
export function correctOnce<Query extends TObject, Body extends TObject>(
  library: Library,
  { viewer, recording, store }: EditCall<Query, Body>,
  correction: Parameters<Library["revisions"]["correct"]>[2],
  expected: number,
): { readonly revision: number } {
  const origin = { editor: crypto.randomUUID(), sequence: 0, seen: expected, expected };
  let answer = { revision: expected };
  library.revisions.correct(viewer, recording.id, correction, origin, (writer, { number }) => {
    answer = { revision: number ?? expected };
    store(answer, writer);
  });
  return answer;
}

/**
 * Reads a small body in JSON. No body is an empty object.
 * @throws {ApiError} 400 if it is not JSON or too slow, 413 if it is too long, 422 if it does not match the schema
 */
async function readJson<Schema extends TObject>(
  request: Request,
  schema: Schema,
): Promise<{ readonly text: string; readonly value: Static<Schema> }> {
  const text = await readSmallBody(request, BODY_LIMITS, (flaw) =>
    flaw === "too_slow"
      ? new ApiError("bad_request", "The body did not arrive in time.")
      : new ApiError("file_too_large", `The body is longer than ${BODY_LIMITS.maxBytes} bytes.`),
  );
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "The body is not JSON.");
  }
  if (Value.Check(schema, value)) return { text, value };
  const names = [...Value.Errors(schema, value)].map(({ path }) => path.split("/")[1] ?? "");
  if (names.every((name) => name === "")) throw new ApiError("bad_request", "The body is not a JSON object.");
  const errors = Object.fromEntries(names.map((name) => [name, [messageOf(schema, name)]]));
  throw new ApiError("validation_failed", "The request is not valid.", { errors });
}

function messageOf(schema: TObject, name: string): string {
  const description = schema.properties[name]?.description;
  return description === undefined ? "It is not valid." : `It must be ${description}.`;
}

/** Returns the fingerprint by which requests with the same Idempotency-Key are compared. */
function fingerprintOf(request: Request, body: string): string {
  const { pathname } = new URL(request.url);
  const compared = [request.method, pathname, request.headers.get("if-match"), body];
  return createHash("sha256").update(JSON.stringify(compared)).digest("hex");
}

function toResponse(body: string, status: number): Response {
  return new Response(body, { status, headers: { "Content-Type": "application/json" } });
}

/** Adds the ETag to an answer that has the number of a transcript's revision. */
async function withRevision(response: Response): Promise<Response> {
  const text = await response.text();
  const { revision } = JSON.parse(text) as { readonly revision?: unknown };
  const headers = new Headers(response.headers);
  if (typeof revision === "number") headers.set("ETag", entityTagOf(revision));
  return new Response(text, { status: response.status, headers });
}

/** Returns the ETag of a transcript after a revision. */
export function entityTagOf(revision: number): string {
  return `"${revision}"`;
}
