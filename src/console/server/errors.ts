import type { ApiError } from "../../http/index.ts";
import type { Refusal, RerunRefusal } from "../../library/index.ts";
import type { CorrectionRefusal } from "../../transcripts/index.ts";
import type { VoiceRefusal } from "../../voices/index.ts";
import type { ConsoleErrorBody } from "../contract/index.ts";

/** HTTP status of each error code of the console. Errors that the API can return as well have the API's code. */
const statuses = {
  bad_request: 400,
  not_signed_in: 401,
  link_not_valid: 401,
  password_not_valid: 401,
  user_not_valid: 401,
  sign_in_failed: 401,
  not_from_here: 403,
  not_allowed: 403,
  held: 403,
  not_found: 404,
  too_slow: 408,
  not_ready: 409,
  changed_meanwhile: 409,
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

const correctionTexts: Readonly<Record<CorrectionRefusal, string>> = {
  not_latest: "The transcript was changed meanwhile.",
  changed_meanwhile: "This part of the transcript was changed meanwhile.",
  no_such_speaker: "The transcript has no such speaker; reload the page.",
  no_such_revision: "This revision is no longer stored. The recognized transcript can still be restored.",
  nothing_to_split: "Place the cursor between two words: both parts need a text.",
  not_mergeable: "These segments do not follow each other, or would be too long together.",
  text_too_long: "A segment would be too long.",
  transcript_too_long: "The transcript would be longer than a transcript may be.",
  too_many_speakers: "The transcript has as many speakers as it may have.",
  too_many_segments: "The transcript has as many segments as it may have.",
};

const rerunTexts: Readonly<Record<RerunRefusal, string>> = {
  no_audio: "The audio of the recording is no longer stored, so it can't be processed again.",
  already_open: "The recording is being processed again already.",
  no_place: "The account has as many queued and processing recordings as it may have; wait until one has finished.",
};

/** Returns the error for a recording that was not read or changed. */
export function refusalToConsoleError(refusal: Refusal): ConsoleError {
  switch (refusal.kind) {
    case "not_found":
    case "other_workspace":
      return new ConsoleError("not_found", "There is no such recording; it may have been deleted.");
    case "not_allowed":
      return new ConsoleError("not_allowed", "Your role does not allow this. Ask the operator of the server.");
    case "held":
      return new ConsoleError("held", "The recording is held; release it first: transcribe recordings release.");
    case "still_open":
      return new ConsoleError(
        "still_processing",
        `The recording is ${refusal.status}; delete it when it has completed or failed.`,
      );
    case "not_corrected":
      return new ConsoleError(
        refusal.reason === "changed_meanwhile" ? "changed_meanwhile" : "validation_failed",
        correctionTexts[refusal.reason],
      );
    case "not_processed":
      return new ConsoleError("not_ready", rerunTexts[refusal.reason]);
    case "not_translated":
      return new ConsoleError("not_found", "The recording has no translation; process it again to get one.");
    case "not_completed":
    case "has_ended":
      return new ConsoleError("not_ready", `The recording has no transcript: it is ${refusal.status}.`);
  }
}

const voiceTexts: Readonly<Record<VoiceRefusal, readonly [code: ConsoleError["code"], message: string]>> = {
  disabled: [
    "not_ready",
    "The account does not remember voices; to change that: transcribe accounts set NAME --voices on.",
  ],
  not_found: ["not_found", "There is no such voice; it may have been deleted."],
  bad_name: ["validation_failed", "Give the voice a name without control characters."],
  name_taken: ["validation_failed", "The account has another voice of this name."],
  no_name: ["not_ready", "Name the speaker first; the voice is remembered under that name."],
  unclear: [
    "not_ready",
    "There is too little clear speech of this speaker, or the recording was processed before the account remembered voices.",
  ],
  different_voice: [
    "not_ready",
    "The account remembers another voice under this name. Give the speaker another name, or delete that voice.",
  ],
  too_many: ["not_ready", "The account remembers as many voices as it can; delete one first."],
  no_proposal: ["not_ready", "This proposal is out of date. Load the page again."],
};

/** Returns the error for a voice that was not stored or changed. */
export function voiceRefusalToConsoleError(refusal: VoiceRefusal): ConsoleError {
  const [code, message] = voiceTexts[refusal];
  return new ConsoleError(code, message, code === "validation_failed" ? { field: "name" } : {});
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
