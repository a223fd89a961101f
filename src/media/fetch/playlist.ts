const PLAYLIST_EXTENSION = /\.(?:m3u8?|pls|xspf|asx)$/i;

/** Returns whether a link looks like a playlist: a playlist's file extension, or a video site's `/playlist?list=`. */
export function isPlaylistLink(url: URL): boolean {
  const path = decoded(url.pathname).replace(/\/+$/, "");
  // The part after a semicolon is a path parameter, for example a session number.
  const name = (path.split("/").at(-1) ?? "").replace(/;.*$/s, "");
  return PLAYLIST_EXTENSION.test(name) || (/\/playlist$/i.test(path) && url.searchParams.has("list"));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Content types of HLS, M3U, PLS, XSPF, Windows Media and DASH lists, as servers send them. */
const PLAYLIST_TYPES: ReadonlySet<string> = new Set([
  "application/vnd.apple.mpegurl",
  "application/vnd.apple.mpegurl.audio",
  "application/mpegurl",
  "application/x-mpegurl",
  "audio/mpegurl",
  "audio/x-mpegurl",
  "audio/scpls",
  "audio/x-scpls",
  "application/pls",
  "application/pls+xml",
  "application/xspf+xml",
  "audio/x-ms-wax",
  "video/x-ms-wvx",
  "video/x-ms-wmx",
  "application/dash+xml",
  "application/smil",
  "application/smil+xml",
]);

/** Returns whether a Content-Type header names a playlist. */
export function isPlaylistType(contentType: string | undefined): boolean {
  const [type = ""] = (contentType ?? "").split(";");
  return PLAYLIST_TYPES.has(type.trim().toLowerCase());
}
