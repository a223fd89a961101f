import type { IncomingMessage } from "node:http";
import { FetchError } from "./fetch-error.ts";
import { isPlaylistType } from "./playlist.ts";

/**
 * Codings that do not change the content. `aws-chunked` is a coding of uploads that some object stores repeat when they
 * serve the object, although its framing is no longer present.
 */
const PLAIN_CODINGS: ReadonlySet<string> = new Set(["", "identity", "aws-chunked"]);

/**
 * Checks a response's header before its body is read.
 * @returns the announced length of the body in bytes; null if none is announced
 * @throws {FetchError} `fetch_http_status`, `fetch_encoding`, `fetch_playlist` or `fetch_too_large`
 */
export function checkAnswer(answer: IncomingMessage, host: string, maxBytes: number): number | null {
  if (answer.statusCode !== 200) {
    throw new FetchError("fetch_http_status", `${host} answered ${answer.statusCode ?? "without a status"}`);
  }
  const { "content-encoding": content = "", "transfer-encoding": transfer = "chunked", ...headers } = answer.headers;
  const codings = content.split(",").map((coding) => coding.trim().toLowerCase());
  // Compressed content is refused and never decompressed. The request does not ask for it, it saves nothing on
  // recordings, and refusing it rules out decompression bombs.
  if (!codings.every((coding) => PLAIN_CODINGS.has(coding)) || transfer.trim().toLowerCase() !== "chunked") {
    throw new FetchError("fetch_encoding", `${host} sent compressed content (${content || transfer})`);
  }
  if (isPlaylistType(headers["content-type"])) {
    throw new FetchError("fetch_playlist", `${host} sent a playlist (${headers["content-type"]})`);
  }
  const length = headers["content-length"];
  if (length === undefined) return null;
  const bytes = Number(length);
  // A comparison with NaN is false.
  if (!(bytes <= maxBytes)) throw tooLarge(host, maxBytes, `${length} bytes`);
  return bytes;
}

/** Creates the error for more bytes than permitted. */
export function tooLarge(host: string, maxBytes: number, size: string): FetchError {
  return new FetchError("fetch_too_large", `${host} sends ${size}; ${maxBytes} bytes are allowed`);
}
