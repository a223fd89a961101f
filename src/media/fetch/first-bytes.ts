/** How much of a file's beginning is looked at: prologues and comments of markup fit well into it. */
export const FIRST_BYTES = 1024;

const PLAYLIST = /^\s*(?:#EXTM3U|\[playlist\]|\[Reference\]|ffconcat version|<asx|<smil|<MPD|<playlist|<rss)/i;
const WEB_PAGE = /^\s*<(?:!doctype|html|head|body|script|meta|title)\b/i;
const XML = /^\s*<\?xml/i;

/**
 * What a file is by its beginning, where that is no recording: a list of links, or a document of markup. Bytes are looked at rather than the
 * Content-Type alone, which is text/plain or octet-stream as often as not.
 */
export function notARecording(beginning: Uint8Array): "playlist" | "web page" | null {
  const text = new TextDecoder("utf-8").decode(beginning).replace(/<!--.*?-->/gs, "");
  if (PLAYLIST.test(text)) return "playlist";
  if (WEB_PAGE.test(text)) return "web page";
  if (!XML.test(text)) return null;
  return /<(?:asx|smil|MPD|playlist|rss|feed)\b/i.test(text) ? "playlist" : "web page";
}
