import { accountCodes, type ErrorCode } from "../errors.ts";

/** Documentation of an error for developers of clients. */
export interface ErrorEntry {
  /** Circumstances in which the error occurs. */
  readonly meaning: string;
  /** Recommended reaction of a program. */
  readonly advice: string;
  /** An example of the message. */
  readonly message: string;
  /** Additional fields of the envelope, besides code and message. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const fixRequest = "Fix the request.";
const askOperator = "Ask the operator.";
const later = "Try again after a pause.";
const backOff = "Try again with exponential backoff; a create with the same `Idempotency-Key`.";

/** Documentation of all errors. */
export const catalogue: Readonly<Record<ErrorCode, ErrorEntry>> = {
  bad_request: {
    meaning:
      "The body is not multipart/form-data, can't be read as such from its start, or arrives too slowly. On every path: the request's `Host` is none of the server's, there are two, or the path has dot segments.",
    advice: fixRequest,
    message: "Send the recording as multipart/form-data.",
  },
  missing_api_key: {
    meaning: "There is no `Authorization` header.",
    advice: fixRequest,
    message: "Send your API key: Authorization: Bearer KEY.",
  },
  invalid_api_key: {
    meaning: "The header holds no key that is in force: unreadable, unknown, revoked or expired.",
    advice: "Use another key.",
    message: "This API key is not valid.",
  },
  subscription_required: {
    meaning: "The account's subscription has ended. Its keys are kept, and work again with the next one.",
    advice: askOperator,
    message: "This account has no active subscription.",
  },
  insufficient_scope: {
    meaning: "The key lacks the scope that `required` names.",
    advice: "Use a key that has it.",
    message: "This key lacks the scope transcriptions:read.",
    details: { required: "transcriptions:read" },
  },
  account_restricted: {
    meaning: "The account is restricted.",
    advice: askOperator,
    message: "This account is restricted.",
  },
  guest_account_not_supported: {
    meaning: "The account is a guest's, and those can't use the API.",
    advice: askOperator,
    message: "A guest account can't use the API.",
  },
  workspace_scope_mismatch: {
    meaning: "The recording is this account's, and not in the workspace that the key is pinned to.",
    advice: "Use a key of that workspace.",
    message: "This key is pinned to another workspace.",
  },
  forbidden: {
    meaning: "The operator keeps this recording from being deleted.",
    advice: askOperator,
    message: "The operator keeps this recording from being deleted.",
  },
  not_found: {
    meaning: "There is no such path or recording, or it is another account's: the answer is the same.",
    advice: fixRequest,
    message: "There is nothing here.",
  },
  method_not_allowed: {
    meaning: "The path does not take this method; `Allow` names those that it takes.",
    advice: fixRequest,
    message: "This path takes GET, HEAD.",
  },
  concurrency_limit: {
    meaning:
      "The account has as many recordings queued, processing or being uploaded as it may have; for a replay, as many " +
      "uploads in progress.",
    advice: "Try again when one of them has ended.",
    message:
      "5 recordings of this account are queued, processing or being uploaded; send this one when one of them has ended.",
  },
  idempotency_key_reused: {
    meaning: "The `Idempotency-Key` came with another body before.",
    advice: "Use a new key for a new create.",
    message: "This Idempotency-Key came with another body before; use a new one.",
  },
  idempotency_request_in_progress: {
    meaning: "A request with this `Idempotency-Key` is still unanswered.",
    advice: later,
    message: "A request with this Idempotency-Key is in progress.",
  },
  transcription_still_processing: {
    meaning: "The recording is queued or processing, and only one that has ended can be deleted.",
    advice: "Try again when it has ended.",
    message: "The transcription is processing; delete it when it has ended.",
  },
  transcription_is_not_ready: {
    meaning: "The recording has not completed. One that has failed never will.",
    advice: "Look at its `status` first.",
    message: "The transcription is queued.",
  },
  file_too_large: {
    meaning: "The whole request is larger than the server takes, or what it decodes to than its disk can ever hold.",
    advice: "Send a smaller file.",
    message: "The request is larger than this server takes; a file may have 536870912 bytes.",
  },
  validation_failed: {
    meaning: "Something in the request is not valid; `errors` says what, by name.",
    advice: fixRequest,
    message: "The request is not valid: limit.",
    details: { errors: { limit: ["It must be a whole number from 1 to 100."] } },
  },
  uploaded_file_cannot_be_processed: {
    meaning: "The upload does not end as a form does, or does not match its `Content-Digest`.",
    advice: "Send it again, with a fresh `Idempotency-Key`.",
    message: "The upload is not well-formed to its end; send it again.",
  },
  playlist_not_acceptable: {
    meaning: "The link is a playlist's by its shape.",
    advice: "Send a link to one recording.",
    message: "The link leads to a playlist. Send a link to one recording.",
  },
  rate_limited: {
    meaning: "A rate limit is spent, or too many exports or pages of the account are still being made or sent.",
    advice: "Wait `Retry-After` seconds.",
    message: "This key may make 120 requests a minute.",
  },
  internal_error: {
    meaning: "A fault of the service. Its log tells more under the `X-Request-Id`.",
    advice: backOff,
    message: "Something went wrong on our side. Try again later.",
  },
  service_unavailable: {
    meaning:
      "The service is starting or stopping, its disk is full, or the account's unfinished uploads take their part of the " +
      "free disk space.",
    advice: `Wait \`Retry-After\` seconds. ${backOff}`,
    message: "The server is stopping; it takes work again in a moment.",
  },
};

/** Returns an example of an envelope with this code. */
export function exampleEnvelope(code: ErrorCode): Record<string, unknown> {
  const { message, details } = catalogue[code];
  const docs = accountCodes.some((each) => each === code) ? { docs: "http://127.0.0.1:8787/docs" } : {};
  return { error: code, message, ...details, ...docs };
}
