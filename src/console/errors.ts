import type { ApiError } from "../http/index.ts";
import type { Refusal } from "../library/index.ts";
import type { ConsoleErrorBody } from "./contract/shared.ts";

/** HTTP status of each error code of the console. Errors that the API can return as well have the API's code. */
const statuses = {
  bad_request: 400,
  not_signed_in: 401,
  link_not_valid: 401,
  password_not_valid: 401,
  not_from_here: 403,
  held: 403,
  not_found: 404,
  too_slow: 408,
  not_ready: 409,
  still_processing: 409,
  too_large: 413,
  validation_failed: 422,
  too_many_attempts: 429,
  service_unavailable: 503,
} as const;

interface ErrorDetails {
  /** The part of the request that is not valid. */
  readonly field?: string;
  /** Time until the next attempt may succeed. */
  readonly retryMilliseconds?: number;
}

/** An error that the page receives as the response. The page shows its message to the user unchanged. */
export class ConsoleError extends Error {
  override readonly name = "ConsoleError";
  readonly code: keyof typeof statuses;
  readonly #details: ErrorDetails;

  constructor(code: keyof typeof statuses, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.#details = details;
  }

  asResponse(): Response {
    const { code, message } = this;
    const { field = null, retryMilliseconds } = this.#details;
    const retrySeconds = retryMilliseconds === undefined ? null : Math.max(1, Math.ceil(retryMilliseconds / 1000));
    const headers = new Headers();
    if (retrySeconds !== null) headers.set("Retry-After", String(retrySeconds));
    // The server does not wait for the rest of a body that it does not read (RFC 9110, 15.5.9).
    if (code === "too_slow") headers.set("Connection", "close");
    const error = { code, message, field, retry_after_seconds: retrySeconds };
    return Response.json({ error } satisfies ConsoleErrorBody, { status: statuses[code], headers });
  }
}

/** Returns the error for a recording that was not read or changed. */
export function refusalToConsoleError(refusal: Refusal): ConsoleError {
  switch (refusal.kind) {
    case "not_found":
    case "other_workspace":
      return new ConsoleError("not_found", "There is no such recording; it may have been deleted.");
    case "held":
      return new ConsoleError("held", "The recording is held; release it first: transcribe recordings release.");
    case "still_open":
      return new ConsoleError(
        "still_processing",
        `The recording is ${refusal.status}; delete it when it has completed or failed.`,
      );
    case "not_completed":
    case "has_ended":
      return new ConsoleError("not_ready", `The recording has no transcript: it is ${refusal.status}.`);
  }
}

/** Returns the response for an error of the API. If several fields are not valid, it reports only the first. */
export function apiErrorAsResponse({ code, message, status, details }: ApiError): Response {
  const [field = null, [fieldMessage = message] = []] = Object.entries(details.errors ?? {})[0] ?? [];
  const headers = new Headers(details.headers);
  const retryAfter = headers.get("retry-after");
  const error = {
    code,
    message: fieldMessage,
    field,
    retry_after_seconds: retryAfter === null ? null : Number(retryAfter),
  };
  return Response.json({ error } satisfies ConsoleErrorBody, { status, headers });
}
