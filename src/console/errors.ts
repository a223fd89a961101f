import { type ApiError, retryAfterSeconds } from "../http/index.ts";
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

type ConsoleErrorCode = keyof typeof statuses;

interface ErrorDetails {
  /** The part of the request that is not valid. */
  readonly field?: string;
  /** Time until the next attempt may succeed. */
  readonly retryMilliseconds?: number;
}

/** An error that the page receives as the response. The page shows its message to the user unchanged. */
export class ConsoleError extends Error {
  override readonly name = "ConsoleError";
  readonly code: ConsoleErrorCode;
  readonly #details: ErrorDetails;

  constructor(code: ConsoleErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.#details = details;
  }

  asResponse(): Response {
    const { field, retryMilliseconds } = this.#details;
    // The server does not wait for the rest of a body that it does not read (RFC 9110, 15.5.9).
    const connection = this.code === "too_slow" ? "close" : undefined;
    const retrySeconds = retryMilliseconds === undefined ? null : retryAfterSeconds(retryMilliseconds);
    return answer(statuses[this.code], { code: this.code, message: this.message, field, retrySeconds, connection });
  }
}

/**
 * Returns a response with an API error in the console's format. If several fields are not valid, it reports only the
 * first.
 */
export function apiErrorAsResponse({ code, message, status, details }: ApiError): Response {
  const [wrong] = Object.entries(details.errors ?? {});
  const { "Retry-After": retryAfter, Allow: allow, Connection: connection } = details.headers ?? {};
  return answer(status, {
    code,
    message: wrong?.[1][0] ?? message,
    field: wrong?.[0],
    retrySeconds: retryAfter === undefined ? null : Number(retryAfter),
    allow,
    connection,
  });
}

interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
  readonly field: string | undefined;
  readonly retrySeconds: number | null;
  readonly allow?: string | undefined;
  readonly connection?: string | undefined;
}

function answer(status: number, { code, message, field, retrySeconds, allow, connection }: ErrorAnswer): Response {
  const body: ConsoleErrorBody = { error: { code, message, field: field ?? null, retry_after_seconds: retrySeconds } };
  const headers = new Headers({ "Content-Type": "application/json;charset=utf-8" });
  if (retrySeconds !== null) headers.set("Retry-After", String(retrySeconds));
  if (allow !== undefined) headers.set("Allow", allow);
  if (connection !== undefined) headers.set("Connection", connection);
  return new Response(JSON.stringify(body), { status, headers });
}
