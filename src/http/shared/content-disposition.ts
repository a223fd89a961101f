/** Latin letters and punctuation that have no decomposition in Unicode, each with its usual form in ASCII. */
const asciiForms = new Map(
  (
    "ßss ẞSS æae ÆAe œoe ŒOe øo ØO þth ÞTh ðd ÐD đd ĐD łl ŁL ħh ĦH ŧt ŦT ıi ĸk ŋng ŊNg əe ƏE ɛe ƐE ǝe ƎE ɔo ƆO ɓb ƁB " +
    "ɖd ƉD ɗd ƊD ɣg ƔG ƙk ƘK ɲn ƝN ƴy ƳY ƒf ƑF ‘' ’' ‚' ‛' “' ”' „' ‹' ›' «' »' ʻ' ʼ' ʹ' ′' ‐- –- —- ―- −- ·. €EUR"
  )
    .split(" ")
    .map((entry) => [entry.charAt(0), entry.slice(1)]),
);
/** Accents and other marks on letters, and invisible characters. */
const marks = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu;
/** Other characters that are not ASCII, unsafe ones, and those that some clients interpret in quotes: `;` and `%22`. */
const replaced = /(?:[^\x20-\x7E]|["%*/:;<>?\\|])+/g;
/** Replaced characters at an edge of a name, each run as a slash, with the separators around them. */
const edges = /^[ ._-]*\/[/ ._-]*|[/ ._-]*\/[ ._-]*$/g;

/**
 * Formats `Content-Disposition: attachment` for a name from `exportFileName` (RFC 6266). `filename*` is UTF-8 (RFC 8187).
 * `filename` is ASCII, for clients that read nothing else, such as `curl -OJ`: letters lose their accents. A name
 * without Latin letters and digits becomes the recording's id there.
 */
export function contentDisposition(fileName: string, recordingId: string): string {
  const name = composed(fileName);
  const dot = name.lastIndexOf(".");
  const ascii = (asciiName(name.slice(0, dot)) || `transcript-${recordingId}`) + name.slice(dot);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncoded(name)}`;
}

/** Returns a name in ASCII, as near to its spelling as possible; empty if no letter or digit remains. */
function asciiName(name: string): string {
  const ascii = name
    .normalize("NFKD")
    .replace(marks, "")
    .replace(/./gsu, (character) => asciiForms.get(character) ?? character)
    .replace(replaced, "/")
    .replace(edges, "")
    .replaceAll("/", "_")
    .replace(/^[ .]+| +$/g, "");
  return /[A-Za-z0-9]/.test(ascii) ? ascii : "";
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

/** Letters with separate marks, and Korean syllables in parts, as macOS sends them. */
const decomposed = /\P{M}\p{M}+|[\u1100-\u1112][\u1161-\u1175][\u11A8-\u11C2]?/gu;

/**
 * Composes letters and their marks in a file name (Unicode's NFC). Single characters stay: NFC exchanges some of them for
 * others, such as the forms of ideographs in Japanese names that Unicode encodes twice.
 */
export function composed(name: string): string {
  return name.replace(decomposed, (letter) => letter.normalize("NFC"));
}
