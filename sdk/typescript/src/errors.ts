import type { ErrorCode, LaterChanges, Transcription } from "./types.ts";

/** Base of all errors of this package. */
export class TranscribeError extends Error {
  override readonly name: string = "TranscribeError";
}

/** Details of a refusal, as far as the server sent them. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode | "unknown";
  readonly message: string;
  /** The request's id in the server's log. */
  readonly requestId: string | null;
  /** Messages by the name of the field, with `validation_failed`. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The scope that the key lacks, with `insufficient_scope`. */
  readonly required: string | null;
  /** What others have changed, with `precondition_failed`. */
  readonly changes?: LaterChanges | null;
  readonly retryAfterSeconds: number | null;
}

/** The server refused a request. Decide by `code`; a proxy's answer has the code `unknown`. */
export class ApiError extends TranscribeError implements Refusal {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: ErrorCode | "unknown";
  /** The server's message, without the status and the code. */
  readonly reason: string;
  readonly requestId: string | null;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly required: string | null;
  readonly changes: LaterChanges | null;
  readonly retryAfterSeconds: number | null;

  constructor({ status, code, message, requestId, errors, required, changes = null, retryAfterSeconds }: Refusal) {
    const details = Object.entries(errors).map(([field, faults]) => ` ${field}: ${faults.join(" ")}`);
    super(printable(`${status} ${code}: ${message}${details.join("")}`));
    this.status = status;
    this.code = code;
    this.reason = message;
    this.requestId = requestId;
    this.errors = errors;
    this.required = required;
    this.changes = changes;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No server answered: the connection failed or was lost, or the answer took too long. */
export class NoAnswerError extends TranscribeError {
  override readonly name = "NoAnswerError";
  /** Whether a retry may succeed: not with a certificate that is not trusted, or where no server has answered so far. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isTemporary = isTemporary;
  }
}

/** The answer does not follow the API, or is a redirect, which is never followed because it could disclose the key. */
export class BadAnswerError extends TranscribeError {
  override readonly name = "BadAnswerError";
  /** Target of a redirect, if it is known. */
  readonly location: string | null;

  constructor(message: string, location: string | null = null) {
    super(printable(message));
    this.location = location;
  }
}

/** The server closed a live session, which can't be resumed. It becomes a recording, unless it was not to be kept. */
export class LiveClosedError extends TranscribeError {
  override readonly name = "LiveClosedError";
  /** Close code of the WebSocket, e.g. 1008. */
  readonly closeCode: number;

  constructor(closeCode: number, reason: string) {
    super(printable(`the session was closed (${closeCode})${reason === "" ? "" : `: ${reason}`}`));
    this.closeCode = closeCode;
  }
}

/** The transcription ended as `failed`. */
export class TranscriptionFailedError extends TranscribeError {
  override readonly name = "TranscriptionFailedError";
  readonly transcription: Transcription;

  constructor(transcription: Transcription) {
    super(`transcription ${transcription.id} failed: ${transcription.failure_reason}`);
    this.transcription = transcription;
  }
}

/** The wait for a transcription is over before it ended. It continues on the server: call `wait` again. */
export class StillProcessingError extends TranscribeError {
  override readonly name = "StillProcessingError";
  readonly transcription: Transcription;

  constructor(transcription: Transcription) {
    super(`transcription ${transcription.id} is still ${transcription.status}`);
    this.transcription = transcription;
  }
}

/** Replaces control characters, so that an answer can't control a terminal that shows its message. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}
