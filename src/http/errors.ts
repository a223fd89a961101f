/** Every code a client may be told, with its status. */
const statuses = {
  bad_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  concurrency_limit: 409,
  transcription_is_not_ready: 409,
  file_too_large: 413,
  validation_failed: 422,
  uploaded_file_cannot_be_processed: 422,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statuses;

/** Field name → what is wrong with it. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** What a client is told instead of an answer: the one error that leaves this program over HTTP. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: FieldErrors | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: { headers?: Record<string, string>; errors?: FieldErrors; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.headers = more.headers ?? {};
    this.errors = more.errors;
  }

  get status(): number {
    return statuses[this.code];
  }

  /** The error envelope. */
  toResponse(): Response {
    const body = {
      error: this.code,
      message: this.message,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
    };
    return Response.json(body, { status: this.status, headers: this.headers });
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
