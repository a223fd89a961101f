import type { OpenAPIV3 } from "openapi-types";
import { accountCodes, type ErrorCode, errorEntries, errorSchema } from "../../shared/errors.ts";
import { requestIdShape } from "../../shared/request-context.ts";
import { idempotencyKeyShape } from "../idempotency.ts";
import { type Schema, toOpenApi } from "./to-openapi.ts";

/** Response headers, by name. */
export const headers = {
  "X-Request-Id": {
    description: "The request's `X-Request-Id` if it is valid, otherwise a new one. The server's log contains it too.",
    required: true,
    schema: { type: "string", pattern: requestIdShape.source },
    example: "0d3f6c1e-6f0b-4a39-9a39-51d6e2a3f1c7",
  },
  "X-Content-Type-Options": { required: true, schema: { type: "string", enum: ["nosniff"] } },
  "Cache-Control": { required: true, schema: { type: "string" }, example: "no-store" },
  RateLimit: {
    description:
      "The remaining quota (`r`) of each limit that applies to the request, and the seconds (`t`) for which it is valid, as in " +
      "draft-ietf-httpapi-ratelimit-headers-10. Every answer to an active key whose account may use the API has it.",
    schema: { type: "string", pattern: '^"[a-z-]+";r=\\d+;t=\\d+(, "[a-z-]+";r=\\d+;t=\\d+)*$' },
    example: '"requests";r=119;t=60',
  },
  "RateLimit-Policy": {
    description: "The limits in `RateLimit`: the quota (`q`) within a window of seconds (`w`).",
    schema: { type: "string", pattern: '^"[a-z-]+";q=\\d+;w=\\d+(, "[a-z-]+";q=\\d+;w=\\d+)*$' },
    example: '"requests";q=120;w=60',
  },
  "Retry-After": {
    description: "Seconds to wait. A retry then succeeds, unless other requests have used the quota.",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 12,
  },
  "WWW-Authenticate": { required: true, schema: { type: "string", enum: ["Bearer"] } },
  Allow: {
    description: "The methods that this path accepts.",
    required: true,
    schema: { type: "string" },
    example: "GET, HEAD",
  },
  Location: {
    description: "Path of the recording.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
    example: "/api/public/v1/transcriptions/019aa5a3-0c7b-7c41-9f1e-2f6a0c1d9b5e",
  },
  "Idempotency-Replayed": {
    description: "Present if this is the stored first answer.",
    schema: { type: "string", enum: ["true"] },
  },
  ETag: {
    description: "Identifies this content; send it as `If-None-Match`.",
    required: true,
    schema: { type: "string" },
    example: '"PpW0Y0zqXv3l8vCkq2nq7mC9d2E"',
  },
  "Content-Disposition": {
    description:
      "`attachment` with the file's name (RFC 6266): `filename` in ASCII, without accents or with the recording's id, and `filename*` in full.",
    required: true,
    schema: { type: "string" },
    example: "attachment; filename=\"Gesprach.srt\"; filename*=UTF-8''Gespr%C3%A4ch.srt",
  },
} as const satisfies Record<string, OpenAPIV3.HeaderObject>;

export type HeaderName = keyof typeof headers;

/** Returns references to the headers of an answer outside the API's base path. */
export function commonHeaders(...more: readonly HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  const names: readonly HeaderName[] = ["X-Request-Id", "X-Content-Type-Options", "Cache-Control", ...more];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns references to the headers of an answer of the API. @param more headers besides the common ones */
export function apiHeaders(...more: readonly HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return commonHeaders("RateLimit", "RateLimit-Policy", ...more);
}

type Examples = Record<string, OpenAPIV3.ExampleObject>;

/** Returns the description of a successful answer with JSON. */
export function jsonAnswer(description: string, schema: Schema, examples: Examples, ...headers: readonly HeaderName[]) {
  return { description, headers: apiHeaders(...headers), content: { "application/json": { schema, examples } } };
}

/** Parameters shared by operations, by their name in the document. */
export const parameters = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.",
    schema: { type: "string" },
    example: "job-7:poll-3",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Identifies this create, so that it is executed once however often it is sent: 1 to 255 visible ASCII characters, such " +
      "as a new UUID. Send one, and repeat it with every retry.",
    schema: { type: "string", pattern: idempotencyKeyShape.source, minLength: 1, maxLength: 255 },
    example: "3f2b9c0e-5a0d-4f0c-9d39-0a8f0d1c2e7b",
  },
  ContentDigest: {
    name: "Content-Digest",
    in: "header",
    description:
      "Digest of the whole body (RFC 9530), sha-256 or sha-512. A body that does not match it is refused with " +
      "`uploaded_file_cannot_be_processed`. At most 16 digests in 2,048 characters; the last digest of an algorithm counts.",
    schema: { type: "string" },
    example: "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "`ETag` of a stored export. If it is still current, the answer is 304 without a body.",
    schema: { type: "string" },
    example: '"PpW0Y0zqXv3l8vCkq2nq7mC9d2E"',
  },
  EditIdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is " +
      "stored for 24 hours. 1 to 255 visible ASCII characters.",
    schema: { type: "string", pattern: idempotencyKeyShape.source, minLength: 1, maxLength: 255 },
    example: "9d0f3c1a-2b7e-4a55-8c53-0f2f9d0e7a11",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "ETag of the revision that you have read: its number in quotes. If the transcript has another one by now, the answer is " +
      "412 with what was changed. Without it, 428.",
    schema: { type: "string", pattern: '^"(0|[1-9][0-9]{0,8})"$' },
    example: '"3"',
  },
  IfMatchOptional: {
    name: "If-Match",
    in: "header",
    description:
      "ETag of the revision that you have read. If the transcript has another one by now, the answer is 412.",
    schema: { type: "string", pattern: '^"(0|[1-9][0-9]{0,8})"$' },
    example: '"3"',
  },
  RevisionNumber: {
    name: "number",
    in: "path",
    required: true,
    description: "Number of a revision; 0 is the transcript as it was recognized.",
    schema: { type: "integer", minimum: 0, maximum: 999_999_999 },
    example: 3,
  },
  VoiceId: {
    name: "voice",
    in: "path",
    required: true,
    description: "The voice's `id`.",
    schema: { type: "string", format: "uuid" },
    example: "019aa5a3-1f00-7d2e-8a51-6f0b1c2d3e4f",
  },
  TranscriptionId: {
    name: "id",
    in: "path",
    required: true,
    description: "The recording's `id`.",
    schema: { type: "string", format: "uuid" },
    example: "019aa5a3-0c7b-7c41-9f1e-2f6a0c1d9b5e",
  },
} as const satisfies Record<string, OpenAPIV3.ParameterObject>;

export function parameter(name: keyof typeof parameters): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

interface ErrorAnswer {
  /** Codes that have the same status. */
  readonly codes: readonly [ErrorCode, ...ErrorCode[]];
  readonly headers?: readonly HeaderName[];
}

/** Error answers shared by operations, by their name in the document. */
const errorAnswers = {
  BadRequest: { codes: ["bad_request"] },
  Unauthorized: { codes: ["missing_api_key", "invalid_api_key"], headers: ["WWW-Authenticate"] },
  AccountForbidden: { codes: accountCodes },
  ScopeForbidden: { codes: [...accountCodes, "insufficient_scope"] },
  RecordingForbidden: { codes: [...accountCodes, "insufficient_scope", "workspace_scope_mismatch"] },
  DeletionForbidden: { codes: [...accountCodes, "insufficient_scope", "workspace_scope_mismatch", "forbidden"] },
  Forbidden: { codes: ["forbidden"] },
  NotFound: { codes: ["not_found"] },
  NoTranslation: { codes: ["not_found", "translation_not_found"] },
  MethodNotAllowed: { codes: ["method_not_allowed"], headers: ["Allow"] },
  CreateConflict: { codes: ["concurrency_limit", "idempotency_key_reused", "idempotency_request_in_progress"] },
  StillProcessing: { codes: ["transcription_still_processing"] },
  NotReady: { codes: ["transcription_is_not_ready"] },
  CancelConflict: {
    codes: ["transcription_has_ended", "idempotency_key_reused", "idempotency_request_in_progress"],
  },
  EditConflict: {
    codes: ["transcription_is_not_ready", "idempotency_key_reused", "idempotency_request_in_progress"],
  },
  ProcessConflict: {
    codes: [
      "transcription_is_not_ready",
      "transcription_still_processing",
      "audio_not_stored",
      "concurrency_limit",
      "idempotency_key_reused",
      "idempotency_request_in_progress",
    ],
  },
  PreconditionFailed: { codes: ["precondition_failed"] },
  PreconditionRequired: { codes: ["precondition_required"] },
  FileTooLarge: { codes: ["file_too_large"] },
  InvalidRequest: { codes: ["validation_failed"] },
  InvalidUpload: {
    codes: ["validation_failed", "uploaded_file_cannot_be_processed", "playlist_not_acceptable"],
    headers: ["Idempotency-Replayed"],
  },
  RateLimited: { codes: ["rate_limited"], headers: ["Retry-After"] },
  InternalError: { codes: ["internal_error"] },
  Unavailable: { codes: ["service_unavailable"], headers: ["Retry-After"] },
} as const satisfies Record<string, ErrorAnswer>;

export type ErrorAnswerName = keyof typeof errorAnswers;
const namedAnswers = Object.entries(errorAnswers) as [ErrorAnswerName, ErrorAnswer][];

/** A schema for each error answer, so that a client knows which codes each operation may return. */
export const errorSchemas: Record<string, Schema> = Object.fromEntries(
  namedAnswers.map(([name, { codes }]) => [`${name}Error`, toOpenApi(errorSchema(codes))]),
);

export const errorResponses: Record<string, OpenAPIV3.ResponseObject> = Object.fromEntries(
  namedAnswers.map(([name, { codes, headers = [] }]) => [
    name,
    {
      description: codes.map((code) => `\`${code}\`: ${errorEntries[code].meaning}`).join("\n\n"),
      headers: apiHeaders(...headers),
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${name}Error` },
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleEnvelope(code) }])),
        },
      },
    },
  ]),
);

function exampleEnvelope(code: ErrorCode): Record<string, unknown> {
  const { message, details } = errorEntries[code];
  const docs = accountCodes.some((each) => each === code) ? { docs: "http://127.0.0.1:8787/docs" } : {};
  return { error: code, message, ...details, ...docs };
}

/** Returns the error answers of an operation, by status. */
export function errors(...names: readonly ErrorAnswerName[]): OpenAPIV3.ResponsesObject {
  return Object.fromEntries(
    names.map((name) => [
      String(errorEntries[errorAnswers[name].codes[0]].status),
      { $ref: `#/components/responses/${name}` },
    ]),
  );
}
