import { Type } from "@sinclair/typebox";

/** Every code a client may be told, with its status. */
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

/** The codes that carry `docs`: those of an account that may not use the API. */
export const accountCodes = [
  "subscription_required",
  "account_restricted",
  "guest_account_not_supported",
] as const satisfies readonly ErrorCode[];

/** Field name → what is wrong with it. */
const fieldErrorsSchema = Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
  description: "What is wrong, by the name of the field, parameter or header. With `validation_failed` alone.",
});
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The error envelope where no other codes than these can come. */
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
  /** With `validation_failed` alone. */
  readonly errors?: FieldErrors;
  /** With `insufficient_scope` alone: the scope that the route needs. */
  readonly required?: string;
  /** With the 403s that gate access: where to read about it, on this server. */
  readonly docs?: string;
  readonly cause?: unknown;
}

/** What a client is told instead of an answer: the one error that leaves this program over HTTP. */
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

  /** The error envelope, as it is sent. */
  toJson(): string {
    const { errors, required, docs } = this.details;
    return JSON.stringify({ error: this.code, message: this.message, errors, required, docs });
  }

  /** The answer. Elysia would call a `toResponse` by itself, past the hook that notes what was refused. */
  asResponse(): Response {
    const headers = { "Content-Type": "application/json;charset=utf-8", ...this.details.headers };
    return new Response(this.toJson(), { status: this.status, headers });
  }
}

/** 422 for one field. */
export function invalidField(field: string, message: string): ApiError {
  return new ApiError("validation_failed", `The request is not valid: ${field}.`, { errors: { [field]: [message] } });
}

/** 404, with the same body whatever was not found, so that nobody learns what others have. */
export function notFound(): ApiError {
  return new ApiError("not_found", "There is nothing here.");
}

/** 503 for a machine that can't write now: an operator, or the end of other work, makes room in minutes. */
export function noRoom(message: string): ApiError {
  return new ApiError("service_unavailable", message, { headers: { "Retry-After": "60" } });
}
