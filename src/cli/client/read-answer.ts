import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../../text/index.ts";
import { printable } from "../printable.ts";
import { ClientError } from "./client-error.ts";

/** Maximum size of a response, larger than a transcript of 18 hours in any format. */
const maxBytes = 256 * 1024 * 1024;

/** Reads a response's body. The server is not trusted. @throws {ClientError} when the body exceeds the maximum size */
export async function readAnswer(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > maxBytes) throw new ClientError("the server answers without an end", { code: "bad_answer" });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const envelopeSchema = Type.Object({
  error: Type.String(),
  message: Type.String(),
  errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
});

/** Hints on the next step, by the API's error code. */
const hints: Readonly<Record<string, string>> = {
  invalid_api_key: "; see --key-file, or make a key on the server with: transcribe keys create --account NAME",
  transcription_still_processing: "; follow it with: transcribe watch ID",
  transcription_is_not_ready: "; follow it with: transcribe watch ID",
};

/** Parses a body as JSON; returns undefined if it is not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Converts an unsuccessful response to an error. */
export function refusalOf(response: Response, body: Uint8Array, baseUrl: string): ClientError {
  const { status } = response;
  const location = response.headers.get("location");
  if (status >= 300 && status < 400) {
    const to = location === null ? "" : ` to ${printable(location)}`;
    return new ClientError(`${baseUrl} redirects${to}; give the right address as --server`, { code: "bad_answer" });
  }
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = retryAfter >= 0 && Number.isFinite(retryAfter) ? retryAfter : null;
  const envelope = parseJson(body);
  if (!Value.Check(envelopeSchema, envelope)) {
    const what = status >= 500 ? "" : "; is it a transcribe server?";
    return new ClientError(`${baseUrl} answered ${status}${what}`, { code: "bad_answer", status, retryAfterSeconds });
  }
  const details = Object.entries(envelope.errors ?? {}).map(([field, faults]) => `${field}: ${faults.join(" ")}`);
  const said = [envelope.message, ...details].map(printable).join(" ");
  const hint = hints[envelope.error];
  const message = hint === undefined ? said : `${said.replace(/\.$/, "")}${hint}`;
  return new ClientError(`the server answered ${status}, ${printable(envelope.error)}: ${message}`, {
    code: envelope.error,
    status,
    retryAfterSeconds,
  });
}

/** Texts for error codes of lost connections, because the runtime's messages don't help users. */
const lostReasons: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was closed",
};

/** Converts the failure of a request without a response to an error. */
export function noAnswer(baseUrl: string, error: unknown): ClientError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = lostReasons[code] ?? messageOf(error);
  if (/CERT|SIGNATURE|ERR_TLS/.test(code)) {
    return new ClientError(`${baseUrl} shows a certificate that is not trusted (${reason}); see --ca`, {
      code: "tls_failed",
    });
  }
  // A TLS server closes connections that don't use TLS.
  const hint = code === "ECONNRESET" && baseUrl.startsWith("http:") ? "; if it speaks TLS, name it by https://" : "";
  return new ClientError(`no answer from ${baseUrl}: ${reason}${hint}`, { code: "no_answer" });
}
