import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../../text/index.ts";
import { printable } from "../printable.ts";
import { ClientError } from "./client-error.ts";

/** More than any transcript of 18 hours takes, in any format. */
const maxBytes = 256 * 1024 * 1024;

/** A response's body, which may come from anyone: not more than memory can bear. @throws {ClientError} */
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

/** What to do next, by the API's code. */
const hints: Readonly<Record<string, string>> = {
  invalid_api_key: "; see --key-file, or make a key on the server with: transcribe keys create --account NAME",
  transcription_still_processing: "; follow it with: transcribe watch ID",
  transcription_is_not_ready: "; follow it with: transcribe watch ID",
};

/** The JSON of a body; undefined where it is none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** What a refusal says, as an error. */
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

/** What the runtime says of these is about its own interface, or nothing that helps. */
const lostReasons: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was closed",
};

/** Why there was no answer, as an error. */
export function noAnswer(baseUrl: string, error: unknown): ClientError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = lostReasons[code] ?? messageOf(error);
  if (/CERT|SIGNATURE|ERR_TLS/.test(code)) {
    return new ClientError(`${baseUrl} shows a certificate that is not trusted (${reason}); see --ca`, {
      code: "tls_failed",
    });
  }
  // A server that speaks TLS closes what does not.
  const hint = code === "ECONNRESET" && baseUrl.startsWith("http:") ? "; if it speaks TLS, name it by https://" : "";
  return new ClientError(`no answer from ${baseUrl}: ${reason}${hint}`, { code: "no_answer" });
}
