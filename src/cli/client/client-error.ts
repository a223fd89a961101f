import { CommandError, type ExitCode, exitCodes } from "../command-error.ts";

/** Error codes of the client itself, in addition to the codes of the API. */
type OwnCode = "no_answer" | "tls_failed" | "bad_answer" | "gave_up";

interface Answer {
  /** A code of the API's error envelope, or a code of the client. */
  readonly code: OwnCode | (string & {});
  /** HTTP status; null when there was no response. */
  readonly status?: number | null;
  /** Seconds to wait before a retry, if the server sent them. */
  readonly retryAfterSeconds?: number | null;
}

/** The server refused a request or could not be reached; the message can be shown to users. */
export class ClientError extends CommandError {
  override readonly name = "ClientError";
  readonly code: string;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, { code, status = null, retryAfterSeconds = null }: Answer) {
    super(message, exitCodeOf(code, status));
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function exitCodeOf(code: string, status: number | null): ExitCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  if (code === "no_answer" || code === "tls_failed" || code === "bad_answer") return exitCodes.unreachable;
  return status !== null && status >= 500 ? exitCodes.unreachable : exitCodes.failed;
}
