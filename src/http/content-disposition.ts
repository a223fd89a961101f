/** Characters that some file system or shell takes for something else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what has to go
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069"*/:<>?\\|]/g;
const maxBytes = 180;

/**
 * `Content-Disposition: attachment` with a name that is safe to save under (RFC 6266): `filename` in ASCII for old clients,
 * `filename*` in UTF-8 (RFC 8187) as it is.
 */
export function contentDisposition(stem: string, extension: string): string {
  const name = `${safeStem(stem)}.${extension}`;
  const ascii = name.normalize("NFKD").replace(/[^\x20-\x7e]/g, "_");
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

function safeStem(stem: string): string {
  const cleaned = stem
    .toWellFormed()
    .replace(unsafe, "_")
    .replace(/^[. ]+|[. ]+$/g, "");
  let short = "";
  for (const character of cleaned) {
    if (Buffer.byteLength(short + character) > maxBytes) break;
    short += character;
  }
  return short === "" ? "transcript" : short;
}
