import { ValidationError } from "elysia";
import { ExportTooLargeError } from "../../exports/index.ts";
import { LibraryError, type Refusal } from "../../library/index.ts";
import { machineTrouble, machineTroubles } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { ApiError, type FieldErrors, noDiskSpace, notFound } from "./errors.ts";
import { contextOf } from "./request-context.ts";

/**
 * Converts a thrown value into the error that is sent to the client. An unexpected error is logged and its message is
 * not sent, because it may contain anything.
 */
export function toApiError(error: unknown, code: string | number, log: Logger, request: Request): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof LibraryError) return refusalToApiError(error.refusal);
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
    return noDiskSpace(`The server can't do this now: ${machineTroubles[fault.kind]}.`);
  }
  if (error instanceof ExportTooLargeError) {
    log.error({ event: "http.export_too_large", requestId, detail: error.message });
    return new ApiError("internal_error", "The transcript is too long for this format; use txt, srt or vtt.");
  }
  log.error({ event: "http.unexpected_error", requestId, error: describe(error) });
  return new ApiError("internal_error", "Something went wrong on our side. Try again later.");
}

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
    case "not_completed":
    case "has_ended":
      return new ApiError("transcription_is_not_ready", `The transcription is ${refusal.status}.`);
    case "not_processed":
      return new ApiError("forbidden", "Recordings are processed again in the console.");
    case "not_corrected":
      return new ApiError("forbidden", "Transcripts are corrected in the console.");
  }
}

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
