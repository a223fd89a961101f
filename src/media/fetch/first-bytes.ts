/** Number of bytes that are examined at a file's beginning. Prologues and comments of markup easily fit into them. */
export const FIRST_BYTES = 1024;

const PLAYLIST = /^\s*(?:#EXTM3U|\[playlist\]|\[Reference\]|ffconcat version|<asx|<smil|<MPD|<playlist|<rss)/i;
const WEB_PAGE = /^\s*<(?:!doctype|html|head|body|script|meta|title)\b/i;
const XML = /^\s*<\?xml/i;

/**
 * Detects from its first bytes that a file is no recording: a list of links, or a markup document. The Content-Type
 * alone does not suffice, because it is often text/plain or octet-stream.
 */
export function notARecording(beginning: Uint8Array): "playlist" | "web page" | null {
  const text = new TextDecoder("utf-8").decode(beginning).replace(/<!--.*?-->/gs, "");
  if (PLAYLIST.test(text)) return "playlist";
  if (WEB_PAGE.test(text)) return "web page";
  if (!XML.test(text)) return null;
  return /<(?:asx|smil|MPD|playlist|rss|feed)\b/i.test(text) ? "playlist" : "web page";
}
