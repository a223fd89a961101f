import { ValidationError } from "elysia";
import { machineTrouble, machineTroubles } from "../../disk/index.ts";
import { ExportTooLargeError } from "../../exports/index.ts";
import { type AccountTrouble, IntakeError, type IntakeRefusal } from "../../intake/index.ts";
import { LibraryError, type Refusal, type RerunRefusal } from "../../library/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { count } from "../../text/index.ts";
import type { CorrectionRefusal } from "../../transcripts/index.ts";
import {
  ApiError,
  type ErrorCode,
  errorEntries,
  type FieldErrors,
  invalidField,
  notFound,
  unavailable,
} from "./errors.ts";
import { rateLimited } from "./rate-limits.ts";
import { contextOf } from "./request-context.ts";

/**
 * Converts a thrown value into the error that is sent to the client. An unexpected error is logged and its message is
 * not sent, because it may contain anything.
 */
export function toApiError(error: unknown, code: string | number, log: Logger, request: Request): ApiError {
  const refusal = refusalOf(error, request);
  if (refusal !== null) return refusal;
  const { requestId } = contextOf(request);
  if (error instanceof ValidationError) {
    return new ApiError("validation_failed", "The request is not valid.", { errors: fieldErrors(error) });
  }
  if (code === "NOT_FOUND") return notFound();
  if (code === "PARSE") return new ApiError("bad_request", "The request's body can't be read.");
  // The client has disconnected, so nobody receives this answer. It is not a fault of the server.
  if (request.signal.aborted && error instanceof Error && error.name === "AbortError") {
    return new ApiError("bad_request", "The connection was closed.");
  }
  const fault = machineTrouble(error);
  if (fault !== null) {
    log.error({ event: "http.machine_trouble", requestId, trouble: fault.kind, detail: fault.detail });
    return unavailable(`The server can't do this now: ${machineTroubles[fault.kind]}.`);
  }
  if (error instanceof ExportTooLargeError) {
    log.error({ event: "http.export_too_large", requestId, detail: error.message });
    return new ApiError("internal_error", "The transcript is too long for this format; use txt, srt or vtt.");
  }
  log.error({ event: "http.unexpected_error", requestId, error: describe(error) });
  return new ApiError("internal_error", "Something went wrong on our side. Try again later.");
}

/**
 * Returns the error of the API that was thrown, or for a recording that was not created, read or changed; null for other
 * errors.
 */
export function refusalOf(error: unknown, request: Request): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof LibraryError) return refusalToApiError(error.refusal);
  return error instanceof IntakeError ? intakeRefusalToApiError(error.refusal, request) : null;
}

function intakeRefusalToApiError(refusal: IntakeRefusal, request: Request): ApiError {
  switch (refusal.kind) {
    case "closed":
      return unavailable(refusal.reason, 10);
    case "account": {
      const [code, message] = accountErrors[refusal.trouble];
      return new ApiError(code, message, { docs: `${contextOf(request).origin}/docs` });
    }
    case "creates_used_up": {
      const window = refusal.window === "hour" ? "an hour" : "24 hours";
      const message = `This account may create ${refusal.limit} recordings within ${window}.`;
      return rateLimited(message, refusal.retryMilliseconds);
    }
    case "no_place":
      return new ApiError(
        "concurrency_limit",
        `${count(refusal.places, "recording of this account is", "recordings of this account are")} queued, processing or being uploaded; send this one when one of them has finished.`,
      );
    case "no_place_for_replay":
      return new ApiError(
        "concurrency_limit",
        `${count(refusal.places, "upload of this account is", "uploads of this account are")} in progress; send this one again when one of them has finished.`,
      );
    // Requests use the whole limit.
    case "left_to_requests":
      return new ApiError("rate_limited", "A limit was reached.");
    case "disk_full":
      return unavailable("There is no disk space to store the upload now.");
    case "account_share_full":
      return unavailable(
        "Unfinished uploads of one account may take a share of the free disk space, and this upload exceeds it. Send the recording again when other uploads of this account have finished.",
      );
    case "probe_timed_out":
      return unavailable("The server is too busy to probe the file now.");
    case "no_recording":
      return invalidField("file", refusal.reason);
    case "too_long":
      return invalidField("file", `The recording is longer than ${refusal.maxSeconds / 3600} hours.`);
    case "never_fits":
      return new ApiError("file_too_large", "The recording needs more disk space to process than this server has.");
    case "no_space_to_process":
      return unavailable("There is no disk space to process this recording now.");
  }
}

const accountErrors = {
  guest: ["guest_account_not_supported", "A guest account can't use the API."],
  restricted: ["account_restricted", "This account is restricted."],
  no_subscription: ["subscription_required", "This account has no active subscription."],
} as const satisfies Record<AccountTrouble, readonly [ErrorCode, string]>;

/** Returns the error of the API for a recording that was not read or changed. */
function refusalToApiError(refusal: Refusal): ApiError {
  switch (refusal.kind) {
    case "not_found":
      return notFound();
    case "other_workspace":
      return new ApiError("workspace_scope_mismatch", "This key is pinned to another workspace.");
    case "held":
      return new ApiError("forbidden", "The operator protects this recording from deletion.");
    // An application has all rights to the recordings that it sees, except those of its key's scopes.
    case "not_allowed":
      return new ApiError("forbidden", "This is not allowed.");
    case "still_open":
      return new ApiError(
        "transcription_still_processing",
        `The transcription is ${refusal.status}; delete it when it has completed or failed.`,
      );
    case "not_translated":
      return new ApiError(
        "translation_not_found",
        "This transcription has no translation: it was not created with task=translate.",
      );
    case "not_completed":
      return new ApiError("transcription_is_not_ready", `The transcription is ${refusal.status}.`);
    case "has_ended":
      return new ApiError(
        "transcription_has_ended",
        `The transcription is ${refusal.status}; only a queued or processing one can be cancelled.`,
      );
    case "not_processed":
      return rerunErrors[refusal.reason]();
    case "not_corrected":
      return invalidField(...correctionErrors[refusal.reason]);
  }
}

const rerunErrors: Readonly<Record<RerunRefusal, () => ApiError>> = {
  no_audio: () => new ApiError("audio_not_stored", errorEntries.audio_not_stored.message),
  already_open: () =>
    new ApiError(
      "transcription_still_processing",
      "The recording is being processed again already; cancel that first.",
    ),
  no_place: () =>
    new ApiError(
      "concurrency_limit",
      "The account has as many queued and processing recordings as it may have; retry when one has finished.",
    ),
};

/** The part of the request that does not fit the transcript, and why. */
const correctionErrors: Readonly<Record<CorrectionRefusal, readonly [field: string, message: string]>> = {
  // A request whose revision is not the latest is refused before, with what has changed.
  not_latest: ["If-Match", "The transcript was changed meanwhile."],
  changed_meanwhile: ["corrections", "A segment is not there any more."],
  no_such_speaker: ["speaker", "The transcript has no such speaker."],
  no_such_revision: ["number", "This revision is not stored, or not any more. 0 is the recognized transcript."],
  nothing_to_split: ["corrections", "Both parts of a split need a text."],
  not_mergeable: ["corrections", "These segments can't be joined."],
  text_too_long: ["corrections", "A segment would be too long."],
  transcript_too_long: ["corrections", "The transcript would be longer than a transcript may be."],
  too_many_speakers: ["speaker", "The transcript has as many speakers as it may have."],
  too_many_segments: ["corrections", "The transcript has as many segments as it may have."],
};

/** Returns the messages of each field, without the values that were sent. */
function fieldErrors(error: ValidationError): FieldErrors {
  const fields: Record<string, string[]> = {};
  for (const issue of error.all) {
    if (!("path" in issue) || typeof issue.path !== "string") continue;
    const field = issue.path.split("/")[1] ?? "";
    const described = "schema" in issue ? issue.schema.description : undefined;
    const message = described === undefined ? "It is not valid." : `It must be ${described}.`;
    fields[field] = [...new Set([...(fields[field] ?? []), message])];
  }
  return fields;
}

function describe(error: unknown): { name: string; message: string; stack: string | undefined } | string {
  return error instanceof Error ? { name: error.name, message: error.message, stack: error.stack } : String(error);
}
