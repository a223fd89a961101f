/** Maximum length of a name in bytes, without its extension. File systems allow 255 with it. */
const MAX_NAME_BYTES = 180;
/**
 * Characters that a file system or a shell treats specially, and invisible characters. Joiners are allowed, because
 * scripts and emoji need them.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}"*/:<>?\\|]|(?![\u200c\u200d])\p{Cf}/u;
/** Non-ASCII and unsafe characters, and those that some clients interpret inside quotation marks: `;` and `%22`. */
const unsafeAscii = /[^\x20-\x7e]|["%*/:;<>?\\|]/g;

/**
 * Formats `Content-Disposition: attachment` for a name from `safeFileName` (RFC 6266). `filename` is ASCII for old
 * clients, `filename*` is UTF-8 (RFC 8187).
 */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.normalize("NFKD").replace(unsafeAscii, "_");
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncoded(fileName)}`;
}

/**
 * Formats the same header as whisper-asr-webservice: `filename` is percent-encoded, as its clients expect. A name that needs
 * this also has `filename*`, for clients that follow RFC 6266. @param fileName as for `contentDisposition`
 */
export function percentEncodedDisposition(fileName: string): string {
  const encoded = percentEncoded(fileName);
  const extended = encoded === fileName ? "" : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${encoded}"${extended}`;
}

function percentEncoded(fileName: string): string {
  return encodeURIComponent(fileName).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Returns the file name for an export. Each character's compatibility form is checked as well. A client or file system
 * that normalizes names turns U+FF02 into a quotation mark, U+FF0F into a slash and U+2025 into two dots.
 * @param sourceName the recording's name; null for a link
 */
export function safeFileName(sourceName: string | null, extension: string): string {
  const characters = Array.from((sourceName ?? "").toWellFormed(), (character) =>
    unsafe.test(character.normalize("NFKD")) ? "_" : character,
  );
  const start = characters.findIndex((character) => !/^[. ]/.test(character.normalize("NFKD")));
  const end = characters.findLastIndex((character) => !/[. ]$/.test(character.normalize("NFKD")));
  let stem = "";
  for (const character of start < 0 ? [] : characters.slice(start, end + 1)) {
    // The compatibility form of some characters is longer.
    if (Buffer.byteLength((stem + character).normalize("NFKD")) > MAX_NAME_BYTES) break;
    stem += character;
  }
  return `${stem === "" ? "transcript" : stem}.${extension}`;
}
