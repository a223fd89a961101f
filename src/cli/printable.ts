/** Control characters (C0, DEL, C1), line separators, and marks that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach a terminal
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The same characters except line feeds and tabs, for whole documents. */
const unprintableInText = new RegExp(`(?![\\n\\t])${unprintable.source}`, "g");

/** Makes untrusted text safe for one line of a terminal: it can't move the cursor or change the text direction. */
export function printable(text: string): string {
  return withoutControls(text.toWellFormed());
}

/** Does the same for the name of a new file, whose bytes that are not UTF-8 stay. See `systemPath`. */
export function withoutControls(text: string): string {
  return text.replace(unprintable, "\u{fffd}");
}

/** Makes an untrusted document safe for a terminal, like `printable`, but preserves its lines. */
export function printableText(text: string): string {
  return text.replaceAll("\r\n", "\n").toWellFormed().replace(unprintableInText, "\u{fffd}");
}

/**
 * Formats JSON for people and programs. Unprintable characters become escapes, so that terminals don't act on them.
 * @param indent 0 for one line
 */
export function escapedJson(value: unknown, indent = 2): string {
  const wellFormed = (_key: string, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part);
  const text = JSON.stringify(value, wellFormed, indent);
  const asEscape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(unprintableInText, asEscape);
}

/** Returns the longest prefix of a text that fits the columns, with an ellipsis if the text is shortened. */
export function fitted(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let short = "";
  for (const { segment } of graphemes.segment(text)) {
    if (Bun.stringWidth(short + segment) >= columns) break;
    short += segment;
  }
  return columns < 1 ? "" : `${short}…`;
}

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
