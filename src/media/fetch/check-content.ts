import type { IncomingMessage } from "node:http";
import { valueOr } from "../../text/index.ts";
import { MediaError } from "../media-error.ts";

/**
 * Codings that do not change the content. `aws-chunked` is a coding of uploads that some object stores repeat when they
 * serve the object, although its framing is no longer present.
 */
const PLAIN_CODINGS: ReadonlySet<string> = new Set(["", "identity", "aws-chunked"]);

/**
 * Checks a response's header before its body is read.
 * @returns the announced length of the body in bytes; null if none is announced
 * @throws {MediaError} `fetch_http_status`, `fetch_encoding`, `fetch_playlist` or `fetch_too_large`
 */
export function checkResponse(response: IncomingMessage, host: string, maxBytes: number): number | null {
  if (response.statusCode !== 200) {
    throw new MediaError("fetch_http_status", `${host} answered ${response.statusCode ?? "without a status"}`);
  }
  const { "content-encoding": content = "", "transfer-encoding": transfer = "chunked", ...headers } = response.headers;
  const codings = content.split(",").map((coding) => coding.trim().toLowerCase());
  // Compressed content is refused and never decompressed. The request does not ask for it, it saves nothing on
  // recordings, and refusing it rules out decompression bombs.
  if (!codings.every((coding) => PLAIN_CODINGS.has(coding)) || transfer.trim().toLowerCase() !== "chunked") {
    throw new MediaError("fetch_encoding", `${host} sent compressed content (${content || transfer})`);
  }
  if (isPlaylistType(headers["content-type"])) {
    throw new MediaError("fetch_playlist", `${host} sent a playlist (${headers["content-type"]})`);
  }
  const length = headers["content-length"];
  if (length === undefined) return null;
  const bytes = Number(length);
  // A comparison with NaN is false.
  if (!(bytes <= maxBytes)) throw tooLarge(host, maxBytes, `${length} bytes`);
  return bytes;
}

/** Creates the error for more bytes than permitted. */
export function tooLarge(host: string, maxBytes: number, size: string): MediaError {
  return new MediaError("fetch_too_large", `${host} sends ${size}; ${maxBytes} bytes are allowed`);
}

/** Number of bytes that are examined at a file's beginning. Prologues and comments of markup easily fit into them. */
export const FIRST_BYTES = 1024;
const PLAYLIST = /^\s*(?:#EXTM3U|\[playlist\]|\[Reference\]|ffconcat version|<asx|<smil|<MPD|<playlist|<rss)/i;
const WEB_PAGE = /^\s*<(?:!doctype|html|head|body|script|meta|title)\b/i;
const XML = /^\s*<\?xml/i;

/**
 * Refuses a list of links or a markup document by its first bytes. The Content-Type alone does not suffice, because it
 * is often text/plain or octet-stream.
 * @throws {MediaError} `fetch_playlist` or `fetch_web_page`
 */
export function refuseText(firstBytes: Uint8Array, host: string): void {
  const text = new TextDecoder("utf-8").decode(firstBytes).replace(/<!--.*?-->/gs, "");
  const isXml = XML.test(text);
  if (PLAYLIST.test(text) || (isXml && /<(?:asx|smil|MPD|playlist|rss|feed)\b/i.test(text))) {
    throw new MediaError("fetch_playlist", `${host} sent a playlist`);
  }
  if (WEB_PAGE.test(text) || isXml) {
    throw new MediaError("fetch_web_page", `${host} sent a web page, not a recording`);
  }
}

const PLAYLIST_EXTENSION = /\.(?:m3u8?|pls|xspf|asx)$/i;

/** Returns whether a link looks like a playlist: a playlist's file extension, or a video site's `/playlist?list=`. */
export function isPlaylistLink(url: URL): boolean {
  const path = valueOr(() => decodeURIComponent(url.pathname), url.pathname).replace(/\/+$/, "");
  // The part after a semicolon is a path parameter, for example a session number.
  const name = (path.split("/").at(-1) ?? "").replace(/;.*$/s, "");
  return PLAYLIST_EXTENSION.test(name) || (/\/playlist$/i.test(path) && url.searchParams.has("list"));
}

/** Content types of HLS, M3U, PLS, XSPF, Windows Media and DASH lists, as servers send them. */
const PLAYLIST_TYPES: ReadonlySet<string> = new Set([
  ...["application/vnd.apple.mpegurl", "application/vnd.apple.mpegurl.audio"],
  ...["application/mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl"],
  ...["audio/scpls", "audio/x-scpls", "application/pls", "application/pls+xml", "application/xspf+xml"],
  ...["audio/x-ms-wax", "video/x-ms-wvx", "video/x-ms-wmx"],
  ...["application/dash+xml", "application/smil", "application/smil+xml"],
]);

function isPlaylistType(contentType = ""): boolean {
  const [type = ""] = contentType.split(";");
  return PLAYLIST_TYPES.has(type.trim().toLowerCase());
}
