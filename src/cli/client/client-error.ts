import {
  ApiError,
  BadAnswerError,
  LiveClosedError,
  NoAnswerError,
  StillProcessingError,
} from "../../../sdk/typescript/src/index.ts";
import { codeOf, messageOf } from "../../text/index.ts";
import { CommandError, exitCodes, type FailureCode } from "../command-error.ts";
import { printable } from "../printable.ts";

/** The server refused a request or could not be reached; the message can be shown to users. */
export class ClientError extends CommandError {
  override readonly name = "ClientError";

  /**
   * @param code of the API's error envelope, or of the client: no_answer, tls_failed, bad_answer, gave_up, session_closed
   * @param status HTTP status; null when there was no response
   */
  constructor(message: string, code: string, status: number | null = null) {
    super(message, exitCodeOf(code, status), code);
  }
}

function exitCodeOf(code: string, status: number | null): FailureCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  if (code === "no_answer" || code === "tls_failed" || code === "bad_answer") return exitCodes.unreachable;
  return status !== null && status >= 500 ? exitCodes.unreachable : exitCodes.failed;
}

/** Converts an error of the client package to one with the command line's advice; returns other errors unchanged. */
export function toClientError(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError) return refused(error, baseUrl);
  if (error instanceof NoAnswerError) return noAnswer(error, baseUrl);
  if (error instanceof BadAnswerError) return badAnswer(error, baseUrl);
  if (error instanceof LiveClosedError) return new ClientError(printable(error.message), "session_closed");
  if (error instanceof StillProcessingError) {
    const { id } = error.transcription;
    const message = `stopped waiting for ${id}, which is still processing; follow it with: transcribe watch ${id}`;
    return new ClientError(message, "gave_up");
  }
  return error;
}

/** Hints on the next step, by the API's error code. */
const hints: Readonly<Record<string, string>> = {
  invalid_api_key: "; see --key-file, or create a key on the server with: transcribe keys create --account NAME",
  transcription_still_processing: "; follow it with: transcribe watch ID",
  transcription_is_not_ready: "; follow it with: transcribe watch ID",
};

function refused({ status, code, reason, errors }: ApiError, baseUrl: string): ClientError {
  if (code === "unknown") {
    const doubt = status >= 500 ? "" : "; is it a transcribe server?";
    return new ClientError(`${baseUrl} answered ${status}${doubt}`, "bad_answer", status);
  }
  const details = Object.entries(errors).map(([field, faults]) => `${field}: ${faults.join(" ")}`);
  const text = [reason, ...details].map(printable).join(" ");
  const hint = hints[code];
  const message = hint === undefined ? text : `${text.replace(/\.$/, "")}${hint}`;
  return new ClientError(`the server answered ${status}, ${printable(code)}: ${message}`, code, status);
}

/** Texts for error codes of lost connections, because the runtime's messages don't help users. */
const lostReasons: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was closed",
};

function noAnswer({ cause, message }: NoAnswerError, baseUrl: string): ClientError {
  if (cause === undefined) return new ClientError(printable(message), "no_answer");
  const code = codeOf(cause);
  const reason = lostReasons[code] ?? messageOf(cause);
  if (/CERT|SIGNATURE|ERR_TLS/.test(code)) {
    return new ClientError(`the certificate of ${baseUrl} is not trusted (${reason}); see --ca`, "tls_failed");
  }
  // A TLS server closes connections that don't use TLS.
  const hint = code === "ECONNRESET" && baseUrl.startsWith("http:") ? "; if it uses TLS, write https://" : "";
  return new ClientError(`no answer from ${baseUrl}: ${reason}${hint}`, "no_answer");
}

function badAnswer({ location }: BadAnswerError, baseUrl: string): ClientError {
  if (location !== null) {
    const message = `${baseUrl} redirects to ${printable(location)}; give the final address as --server`;
    return new ClientError(message, "bad_answer");
  }
  return notThisApi(baseUrl);
}

export function notThisApi(baseUrl: string): ClientError {
  const message = `the response of ${baseUrl} does not follow this API; is it a transcribe server?`;
  return new ClientError(message, "bad_answer");
}
