import { Type } from "@sinclair/typebox";
import { editing } from "../../api-contract/index.ts";

/** Documentation of an error for developers of clients. */
interface ErrorEntry {
  readonly status: number;
  /** Circumstances in which the error occurs. */
  readonly meaning: string;
  /** Recommended reaction of a program. */
  readonly advice: string;
  /** An example of the message. */
  readonly message: string;
  /** An example of the additional fields of the envelope, besides code and message. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const fixRequest = "Fix the request.";
const askOperator = "Ask the operator.";
const backOff = "Retry with exponential backoff; a create with the same `Idempotency-Key`.";

/** All errors that a client of the API may receive, by code. */
const catalogue = {
  bad_request: {
    status: 400,
    meaning:
      "The body is not multipart/form-data, is malformed from its start, or arrives too slowly. On every path: the `Host` " +
      "is not one of the server's names, there are two `Host` headers, or the path has dot segments.",
    advice: fixRequest,
    message: "Send the recording as multipart/form-data.",
  },
  missing_api_key: {
    status: 401,
    meaning: "There is no `Authorization` header.",
    advice: fixRequest,
    message: "Send your API key: Authorization: Bearer KEY.",
  },
  invalid_api_key: {
    status: 401,
    meaning: "The header contains no active key: it is malformed, unknown, revoked or expired.",
    advice: "Use another key.",
    message: "This API key is not valid.",
  },
  subscription_required: {
    status: 403,
    meaning: "The account's subscription has ended. Its keys stay stored and work again with the next subscription.",
    advice: askOperator,
    message: "This account has no active subscription.",
  },
  insufficient_scope: {
    status: 403,
    meaning: "The key lacks the scope in `required`.",
    advice: "Use a key with this scope.",
    message: "This key lacks the scope transcriptions:read.",
    details: { required: "transcriptions:read" },
  },
  account_restricted: {
    status: 403,
    meaning: "The account is restricted.",
    advice: askOperator,
    message: "This account is restricted.",
  },
  guest_account_not_supported: {
    status: 403,
    meaning: "The account is a guest account, which can't use the API.",
    advice: askOperator,
    message: "A guest account can't use the API.",
  },
  workspace_scope_mismatch: {
    status: 403,
    meaning: "The recording belongs to this account, but not to the key's workspace.",
    advice: "Use a key of the recording's workspace.",
    message: "This key is pinned to another workspace.",
  },
  forbidden: {
    status: 403,
    meaning: "The operator protects this recording from deletion.",
    advice: askOperator,
    message: "The operator protects this recording from deletion.",
  },
  not_found: {
    status: 404,
    meaning: "The path or recording does not exist, or belongs to another account. The answer is the same.",
    advice: fixRequest,
    message: "There is nothing here.",
  },
  translation_not_found: {
    status: 404,
    meaning:
      "The recording has no translation: it was not created with `task=translate`, or was processed again without.",
    advice: fixRequest,
    message: "This transcription has no translation: it was not created with task=translate.",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path does not accept this method. `Allow` lists the accepted methods.",
    advice: fixRequest,
    message: "This path accepts GET, HEAD.",
  },
  concurrency_limit: {
    status: 409,
    meaning:
      "The account has its maximum number of recordings that are queued, processing or being uploaded. For a replay: its " +
      "maximum number of uploads in progress.",
    advice: "Retry when one of them has finished.",
    message:
      "5 recordings of this account are queued, processing or being uploaded; send this one when one of them has finished.",
  },
  idempotency_key_reused: {
    status: 409,
    meaning: "The `Idempotency-Key` was used with another body before.",
    advice: "Use a new key for a new create.",
    message: "This Idempotency-Key was used with another body before; use a new one.",
  },
  idempotency_request_in_progress: {
    status: 409,
    meaning: "A request with this `Idempotency-Key` is still unanswered.",
    advice: "Retry after a pause.",
    message: "A request with this Idempotency-Key is in progress.",
  },
  transcription_still_processing: {
    status: 409,
    meaning: "The recording is queued or processing. Only a completed or failed recording can be deleted.",
    advice: "Retry when it has completed or failed.",
    message: "The transcription is processing; delete it when it has completed or failed.",
  },
  transcription_is_not_ready: {
    status: 409,
    meaning: "The recording has not completed. A failed recording never will.",
    advice: "Check its `status` first.",
    message: "The transcription is queued.",
  },
  transcription_has_ended: {
    status: 409,
    meaning: "The recording has completed or failed, so it can't be cancelled.",
    advice: "Read its `status`.",
    message: "The transcription is completed; only a queued or processing one can be cancelled.",
  },
  audio_not_stored: {
    status: 409,
    meaning: "The audio of the recording is not stored any more, so it can't be processed again.",
    advice: "Send the recording again.",
    message: "The audio of this recording is no longer stored; send the recording again.",
  },
  precondition_failed: {
    status: 412,
    meaning: "Somebody has changed the transcript since the revision of `If-Match`. `changes` has what was changed.",
    advice: "Apply the changes to what you have, and send the request again with the latest revision.",
    message: "The transcript was changed since revision 3; the latest is 5.",
    details: { changes: { revision: 5, authors: ["Ada"], splices: null } },
  },
  file_too_large: {
    status: 413,
    meaning: "The whole request is larger than the server accepts, or its decoded audio can never fit on the disk.",
    advice: "Send a smaller file.",
    message: "The request is larger than this server accepts; a file may have 536870912 bytes.",
  },
  validation_failed: {
    status: 422,
    meaning: "Something in the request is not valid. `errors` describes it by name.",
    advice: fixRequest,
    message: "The request is not valid: limit.",
    details: { errors: { limit: ["It must be a whole number from 1 to 100."] } },
  },
  uploaded_file_cannot_be_processed: {
    status: 422,
    meaning: "The upload is not well-formed to its end, or does not match its `Content-Digest`.",
    advice: "Send it again with a new `Idempotency-Key`.",
    message: "The upload is not well-formed to its end; send it again.",
  },
  playlist_not_acceptable: {
    status: 422,
    meaning: "The link has the form of a playlist's.",
    advice: "Send a link to one recording.",
    message: "The link leads to a playlist. Send a link to one recording.",
  },
  precondition_required: {
    status: 428,
    meaning: "The request changes a transcript, and has no `If-Match`.",
    advice: 'Send the revision that you have read: `If-Match: "3"`.',
    message: 'Send the revision that you have read, such as If-Match: "3".',
  },
  rate_limited: {
    status: 429,
    meaning: "A rate limit is used up, or too many exports or pages of the account are being prepared or sent.",
    advice: "Wait `Retry-After` seconds.",
    message: "This key may make 120 requests a minute.",
  },
  internal_error: {
    status: 500,
    meaning: "A fault of the service. Its log has the details under the `X-Request-Id`.",
    advice: backOff,
    message: "Something went wrong on our side. Try again later.",
  },
  service_unavailable: {
    status: 503,
    meaning:
      "The service is starting or stopping, its disk is full, or the account's unfinished uploads have used up their share " +
      "of the free disk space.",
    advice: `Wait \`Retry-After\` seconds. ${backOff}`,
    message: "The server is stopping; it accepts work again in a moment.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof catalogue;
export const errorCodes = Object.keys(catalogue) as ErrorCode[];
/** Status and documentation of each error. */
export const errorEntries: Readonly<Record<ErrorCode, ErrorEntry>> = catalogue;

/** The codes for an account that may not use the API. Their envelopes contain `docs`. */
export const accountCodes = [
  "subscription_required",
  "account_restricted",
  "guest_account_not_supported",
] as const satisfies readonly ErrorCode[];

/** Messages by field name. */
const fieldErrorsSchema = Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
  description: "Messages by the name of the field, parameter or header. Only with `validation_failed`.",
});
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Returns the schema of the error envelope for a set of possible codes. */
export function errorSchema(codes: readonly ErrorCode[]) {
  const mayBe = (...some: readonly ErrorCode[]) => some.some((code) => codes.includes(code));
  const required = Type.String({ description: "The scope that the route needs. Only with `insufficient_scope`." });
  const docs = Type.String({
    format: "uri",
    description: "URL of this server's documentation. Only with the codes of an account that may not use the API.",
  });
  return Type.Object({
    error: Type.Union(
      codes.map((code) => Type.Literal(code)),
      { description: "The error code, for programs." },
    ),
    message: Type.String({ minLength: 1, description: "The error in words, for people. The wording may change." }),
    ...(mayBe("validation_failed") ? { errors: Type.Optional(fieldErrorsSchema) } : {}),
    ...(mayBe("insufficient_scope") ? { required: Type.Optional(required) } : {}),
    ...(mayBe(...accountCodes) ? { docs: Type.Optional(docs) } : {}),
    ...(mayBe("precondition_failed") ? { changes: Type.Optional(editing.laterChangesSchema) } : {}),
  });
}

interface ErrorDetails {
  /** Status of the answer, if it is not that of the code. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Only with `validation_failed`. */
  readonly errors?: FieldErrors;
  /** Only with `insufficient_scope`: the scope that the route needs. */
  readonly required?: string;
  /** Only with the codes in `accountCodes`: URL of this server's documentation. */
  readonly docs?: string;
  /** Only with `precondition_failed`: what others have changed. */
  readonly changes?: editing.LaterChangesResource;
}

/** An error that is sent to the client. No other error leaves this program over HTTP. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return this.details.status ?? errorEntries[this.code].status;
  }

  /** Returns the error envelope as it is sent. */
  toJson(): string {
    const { errors, required, docs, changes } = this.details;
    return JSON.stringify({ error: this.code, message: this.message, errors, required, docs, changes });
  }

  /**
   * Returns the answer. The name is not `toResponse`, which Elysia would call by itself, bypassing the hook that
   * records refusals.
   */
  asResponse(): Response {
    const headers = { "Content-Type": "application/json;charset=utf-8", ...this.details.headers };
    return new Response(this.toJson(), { status: this.status, headers });
  }
}

/** Returns a 422 error for one field. */
export function invalidField(field: string, message: string): ApiError {
  return new ApiError("validation_failed", `The request is not valid: ${field}.`, { errors: { [field]: [message] } });
}

/** Returns a 404 error. Its body is always the same, so that nobody learns which recordings other accounts have. */
export function notFound(): ApiError {
  return new ApiError("not_found", "There is nothing here.");
}

/**
 * Returns a 503 error. By default, a retry is advised after a minute: completed work or an operator frees disk space
 * within minutes.
 */
export function unavailable(message: string, retryAfterSeconds = 60): ApiError {
  return new ApiError("service_unavailable", message, { headers: { "Retry-After": String(retryAfterSeconds) } });
}
