import type { OpenAPIV3 } from "openapi-types";
import { accountCodes, type ErrorCode, errorSchema, statusOf } from "../errors.ts";
import { catalogue, exampleEnvelope } from "./catalogue.ts";
import { answerHeaders, type HeaderName } from "./headers.ts";
import { toOpenApi } from "./to-openapi.ts";

interface ErrorAnswer {
  /** Codes that have the same status. */
  readonly codes: readonly [ErrorCode, ...ErrorCode[]];
  readonly headers?: readonly HeaderName[];
}

/** Error answers shared by operations, by their name in the document. */
const answers = {
  BadRequest: { codes: ["bad_request"] },
  Unauthorized: { codes: ["missing_api_key", "invalid_api_key"], headers: ["WWW-Authenticate"] },
  AccountForbidden: { codes: accountCodes },
  ScopeForbidden: { codes: [...accountCodes, "insufficient_scope"] },
  RecordingForbidden: { codes: [...accountCodes, "insufficient_scope", "workspace_scope_mismatch"] },
  DeletionForbidden: { codes: [...accountCodes, "insufficient_scope", "workspace_scope_mismatch", "forbidden"] },
  Forbidden: { codes: ["forbidden"] },
  NotFound: { codes: ["not_found"] },
  MethodNotAllowed: { codes: ["method_not_allowed"], headers: ["Allow"] },
  CreateConflict: { codes: ["concurrency_limit", "idempotency_key_reused", "idempotency_request_in_progress"] },
  StillProcessing: { codes: ["transcription_still_processing"] },
  NotReady: { codes: ["transcription_is_not_ready"] },
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

export type ErrorAnswerName = keyof typeof answers;
const named = Object.entries(answers) as [ErrorAnswerName, ErrorAnswer][];

/** A schema for each answer, so that a client knows which codes each operation may return. */
export const errorSchemas: Record<string, OpenAPIV3.SchemaObject | OpenAPIV3.ReferenceObject> = Object.fromEntries(
  named.map(([name, { codes }]) => [`${name}Error`, toOpenApi(errorSchema(codes))]),
);

export const errorResponses: Record<string, OpenAPIV3.ResponseObject> = Object.fromEntries(
  named.map(([name, { codes, headers = [] }]) => [
    name,
    {
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].meaning}`).join("\n\n"),
      headers: answerHeaders(...headers),
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${name}Error` },
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleEnvelope(code) }])),
        },
      },
    },
  ]),
);

/** Returns the error answers of an operation, by status. */
export function errors(...names: readonly ErrorAnswerName[]): OpenAPIV3.ResponsesObject {
  return Object.fromEntries(
    names.map((name) => [String(statusOf(answers[name].codes[0])), { $ref: `#/components/responses/${name}` }]),
  );
}
