import type { IncomingMessage } from "node:http";
import { FetchError } from "./fetch-error.ts";
import { isPlaylistType } from "./playlist.ts";

/**
 * Codings that leave the content as it is. `aws-chunked` is a word of an upload that some object stores repeat when they
 * hand the object out, its framing long gone.
 */
const PLAIN_CODINGS: ReadonlySet<string> = new Set(["", "identity", "aws-chunked"]);

/**
 * Checks an answer's header before its body is read.
 * Throws FetchError `fetch_http_status`, `fetch_encoding`, `fetch_playlist` or `fetch_too_large`.
 *
 * @returns the announced length of the body in bytes; null where none is announced
 */
export function checkAnswer(answer: IncomingMessage, host: string, maxBytes: number): number | null {
  if (answer.statusCode !== 200) {
    throw new FetchError("fetch_http_status", `${host} answered ${answer.statusCode ?? "without a status"}`);
  }
  const { "content-encoding": content = "", "transfer-encoding": transfer = "chunked", ...headers } = answer.headers;
  const codings = content.split(",").map((coding) => coding.trim().toLowerCase());
  // Compressed content is refused rather than unpacked: we asked for none, it gains nothing on recordings, and what is
  // refused can't blow up.
  if (!codings.every((coding) => PLAIN_CODINGS.has(coding)) || transfer.trim().toLowerCase() !== "chunked") {
    throw new FetchError("fetch_encoding", `${host} sent compressed content (${content || transfer})`);
  }
  if (isPlaylistType(headers["content-type"])) {
    throw new FetchError("fetch_playlist", `${host} sent a playlist (${headers["content-type"]})`);
  }
  const length = headers["content-length"];
  if (length === undefined) return null;
  const bytes = Number(length);
  // What is no number compares false.
  if (!(bytes <= maxBytes)) throw tooLarge(host, maxBytes, `${length} bytes`);
  return bytes;
}

/** The error for more bytes than allowed. */
export function tooLarge(host: string, maxBytes: number, size: string): FetchError {
  return new FetchError("fetch_too_large", `${host} sends ${size}; ${maxBytes} bytes are allowed`);
}
