import { type Static, Type } from "@sinclair/typebox";
import { ApiError, type ErrorCode } from "../shared/errors.ts";

/** The error form of OpenAI's API. */
export const openAiErrorSchema = Type.Object({
  error: Type.Object({
    message: Type.String({ minLength: 1, description: "The error in words, for people." }),
    type: Type.String({ description: "The kind of error, e.g. `invalid_request_error`." }),
    param: Type.Union([Type.String(), Type.Null()], { description: "The field that is not valid, if it is one." }),
    code: Type.Union([Type.String(), Type.Null()], { description: "The error code, for programs." }),
  }),
});

interface OpenAiDetails {
  readonly status?: number;
  /** The field that is not valid. */
  readonly param?: string;
  /** Code in the answer, if it is not that of the error's status. */
  readonly code?: string;
  /** False asks OpenAI's clients not to send the request again by themselves. */
  readonly retry?: false;
  readonly retryAfterSeconds?: number;
}

/** An error with details that only OpenAI's error form has. @see ApiError for the code, which metrics count */
export class OpenAiError extends ApiError {
  readonly openAi: OpenAiDetails;

  constructor(code: ErrorCode, message: string, openAi: OpenAiDetails = {}) {
    super(code, message, {
      headers: {
        ...(openAi.retry === undefined ? {} : { "x-should-retry": "false" }),
        ...(openAi.retryAfterSeconds === undefined ? {} : { "Retry-After": String(openAi.retryAfterSeconds) }),
      },
    });
    this.openAi = openAi;
  }
}

/** Returns a 400 error for one field. */
export function invalidParam(param: string, message: string): OpenAiError {
  return new OpenAiError("bad_request", message, { param });
}

/** Wait before a retry when the account has no place. Recordings end at any time. */
const PLACE_RETRY_SECONDS = "10";

/** Returns the answer to an error in OpenAI's form. */
export function toOpenAiAnswer(error: ApiError): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json", ...error.details.headers };
  if (error.code === "concurrency_limit") headers["Retry-After"] ??= PLACE_RETRY_SECONDS;
  return new Response(JSON.stringify(toOpenAiForm(error)), { status: statusOf(error), headers });
}

/** Returns the body of an error in OpenAI's form. */
export function toOpenAiForm(error: ApiError): Static<typeof openAiErrorSchema> {
  const { errors = {} } = error.details;
  const [field] = Object.entries(errors);
  const own = error instanceof OpenAiError ? error.openAi : {};
  const status = statusOf(error);
  return {
    error: {
      message: field === undefined ? error.message : `${field[0]}: ${field[1].join(" ")}`,
      type: status >= 500 ? "server_error" : status === 429 ? "rate_limit_exceeded" : "invalid_request_error",
      param: own.param ?? field?.[0] ?? null,
      code: own.code ?? codeOf(error),
    },
  };
}

/** OpenAI's clients repeat a request after 409 with a short pause, and after 429 when `Retry-After` is over. */
function statusOf(error: ApiError): number {
  if (error instanceof OpenAiError && error.openAi.status !== undefined) return error.openAi.status;
  if (error.code === "concurrency_limit") return 429;
  return error.status === 422 ? 400 : error.status;
}

function codeOf({ code, status }: ApiError): string | null {
  if (status === 401) return "invalid_api_key";
  if (code === "concurrency_limit" || code === "rate_limited") return "rate_limit_exceeded";
  return code === "bad_request" || code === "validation_failed" ? null : code;
}
