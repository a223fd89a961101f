import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ServerTrust } from "../../api/index.ts";
import { codeOf, messageOf } from "../../text/index.ts";
import { CommandError, type ExitCode, exitCodes } from "../command-error.ts";
import { printable } from "../printable.ts";

/** The address of an API, with the key and the trusted certificates for its requests. */
export interface Connection {
  /** e.g. `http://127.0.0.1:8787/api/public/v1` */
  readonly baseUrl: string;
  readonly key: string;
  /** Trusted certificates, if they are not those of the well-known certificate authorities. */
  readonly trust: ServerTrust;
}

/** The server refused a request or could not be reached; the message can be shown to users. */
export class ClientError extends CommandError {
  override readonly name = "ClientError";
  /** HTTP status; null when there was no response. */
  readonly status: number | null;
  /** Seconds to wait before a retry, if the server sent them. */
  readonly retryAfterSeconds: number | null;

  /** @param code of the API's error envelope, or of the client: no_answer, tls_failed, bad_answer, gave_up */
  constructor(message: string, code: string, status: number | null = null, retryAfterSeconds: number | null = null) {
    super(message, exitCodeOf(code, status), code);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function exitCodeOf(code: string, status: number | null): ExitCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  if (code === "no_answer" || code === "tls_failed" || code === "bad_answer") return exitCodes.unreachable;
  return status !== null && status >= 500 ? exitCodes.unreachable : exitCodes.failed;
}

export interface RequestOptions extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Milliseconds for the whole response; null when only the signal limits the time. */
  readonly timeout?: number | null;
}

const DEFAULT_TIMEOUT_MILLISECONDS = 60_000;

/** Makes one request and returns the response's body. @throws {ClientError} @throws the signal's reason */
export async function request(
  { baseUrl, key, trust }: Connection,
  path: string,
  { signal, timeout = DEFAULT_TIMEOUT_MILLISECONDS, headers, ...init }: RequestOptions,
): Promise<Uint8Array> {
  try {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { ...headers, Authorization: `Bearer ${key}` },
      // A redirect could send the key and the recording to an unknown server.
      redirect: "manual",
      signal: timeout === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      timeout: false,
      ...trust,
    });
    const body = await readBody(response);
    if (!response.ok) throw refusalOf(response, body, baseUrl);
    return body;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (signal.aborted) throw signal.reason;
    throw noAnswer(baseUrl, error);
  }
}

/** Maximum size of a response, larger than a transcript of 18 hours in any format. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/** Reads a response's body. The server is not trusted. @throws {ClientError} when the body exceeds the maximum size */
async function readBody(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new ClientError("the server's response is too large", "bad_answer");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Parses a body as JSON; returns undefined if it is not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

const envelopeSchema = Type.Object({
  error: Type.String(),
  message: Type.String(),
  errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
});

/** Hints on the next step, by the API's error code. */
const hints: Readonly<Record<string, string>> = {
  invalid_api_key: "; see --key-file, or create a key on the server with: transcribe keys create --account NAME",
  transcription_still_processing: "; follow it with: transcribe watch ID",
  transcription_is_not_ready: "; follow it with: transcribe watch ID",
};

/** Converts an unsuccessful response to an error. */
function refusalOf({ status, headers }: Response, body: Uint8Array, baseUrl: string): ClientError {
  const location = headers.get("location");
  if (status >= 300 && status < 400) {
    const target = location === null ? "" : ` to ${printable(location)}`;
    return new ClientError(`${baseUrl} redirects${target}; give the final address as --server`, "bad_answer");
  }
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = retryAfter >= 0 && Number.isFinite(retryAfter) ? retryAfter : null;
  const envelope = parseJson(body);
  if (!Value.Check(envelopeSchema, envelope)) {
    const doubt = status >= 500 ? "" : "; is it a transcribe server?";
    return new ClientError(`${baseUrl} answered ${status}${doubt}`, "bad_answer", status, retryAfterSeconds);
  }
  const details = Object.entries(envelope.errors ?? {}).map(([field, faults]) => `${field}: ${faults.join(" ")}`);
  const text = [envelope.message, ...details].map(printable).join(" ");
  const hint = hints[envelope.error];
  const message = hint === undefined ? text : `${text.replace(/\.$/, "")}${hint}`;
  const answer = `the server answered ${status}, ${printable(envelope.error)}: ${message}`;
  return new ClientError(answer, envelope.error, status, retryAfterSeconds);
}

/** Texts for error codes of lost connections, because the runtime's messages don't help users. */
const lostReasons: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was closed",
};

/** Converts the failure of a request without a response to an error. */
function noAnswer(baseUrl: string, error: unknown): ClientError {
  const code = codeOf(error);
  const reason = lostReasons[code] ?? messageOf(error);
  if (/CERT|SIGNATURE|ERR_TLS/.test(code)) {
    return new ClientError(`the certificate of ${baseUrl} is not trusted (${reason}); see --ca`, "tls_failed");
  }
  // A TLS server closes connections that don't use TLS.
  const hint = code === "ECONNRESET" && baseUrl.startsWith("http:") ? "; if it uses TLS, write https://" : "";
  return new ClientError(`no answer from ${baseUrl}: ${reason}${hint}`, "no_answer");
}
