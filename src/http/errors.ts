import { Type } from "@sinclair/typebox";

/** All error codes that a client may receive, with their status. */
const statuses = {
  bad_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  subscription_required: 403,
  insufficient_scope: 403,
  account_restricted: 403,
  guest_account_not_supported: 403,
  workspace_scope_mismatch: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  concurrency_limit: 409,
  idempotency_key_reused: 409,
  idempotency_request_in_progress: 409,
  transcription_still_processing: 409,
  transcription_is_not_ready: 409,
  file_too_large: 413,
  validation_failed: 422,
  uploaded_file_cannot_be_processed: 422,
  playlist_not_acceptable: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statuses;
export const errorCodes = Object.keys(statuses) as ErrorCode[];

export function statusOf(code: ErrorCode): number {
  return statuses[code];
}

/** The codes that carry `docs`: those for an account that may not use the API. */
export const accountCodes = [
  "subscription_required",
  "account_restricted",
  "guest_account_not_supported",
] as const satisfies readonly ErrorCode[];

/** Messages by field name. */
const fieldErrorsSchema = Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
  description: "What is wrong, by the name of the field, parameter or header. With `validation_failed` alone.",
});
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Returns the schema of the error envelope for a set of possible codes. */
export function errorSchema(codes: readonly ErrorCode[]) {
  const mayBe = (...some: readonly ErrorCode[]) => some.some((code) => codes.includes(code));
  return Type.Object({
    error: Type.Union(
      codes.map((code) => Type.Literal(code)),
      { description: "What happened; programs decide by this." },
    ),
    message: Type.String({ minLength: 1, description: "The same for people. Its wording may change." }),
    ...(mayBe("validation_failed") ? { errors: Type.Optional(fieldErrorsSchema) } : {}),
    ...(mayBe("insufficient_scope")
      ? {
          required: Type.Optional(
            Type.String({ description: "The scope that the route needs. With `insufficient_scope` alone." }),
          ),
        }
      : {}),
    ...(mayBe(...accountCodes)
      ? {
          docs: Type.Optional(
            Type.String({
              format: "uri",
              description: "Where this server tells about it. With the codes of an account that may not use the API.",
            }),
          ),
        }
      : {}),
  });
}

interface ErrorDetails {
  readonly headers?: Record<string, string>;
  /** Only with `validation_failed`. */
  readonly errors?: FieldErrors;
  /** Only with `insufficient_scope`: the scope that the route needs. */
  readonly required?: string;
  /** Only with the codes in `accountCodes`: URL of this server's documentation. */
  readonly docs?: string;
  readonly cause?: unknown;
}

/** An error that is sent to the client. No other error leaves this program over HTTP. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return statuses[this.code];
  }

  /** Returns the error envelope as it is sent. */
  toJson(): string {
    const { errors, required, docs } = this.details;
    return JSON.stringify({ error: this.code, message: this.message, errors, required, docs });
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

/** Returns a 404 error. Its body is the same whatever was not found, so that nobody learns what other accounts have. */
export function notFound(): ApiError {
  return new ApiError("not_found", "There is nothing here.");
}

/**
 * Returns a 503 error for a machine that can't write now. An operator or completed work frees disk space within
 * minutes.
 */
export function noRoom(message: string): ApiError {
  return new ApiError("service_unavailable", message, { headers: { "Retry-After": "60" } });
}
