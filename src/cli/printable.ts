/** Controls (C0, DEL, C1), line separators, and marks that turn the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach a terminal
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The same but line ends and tabs, for whole documents. */
const unprintableInText = new RegExp(`(?![\\n\\t])${unprintable.source}`, "g");

/** A text of others in one line, such that it can't move a terminal's cursor or turn its letters round. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, "\u{fffd}");
}

/** A document of others for a terminal: as `printable`, with its lines left as they are. */
export function printableText(text: string): string {
  return text.replaceAll("\r\n", "\n").toWellFormed().replace(unprintableInText, "\u{fffd}");
}

/** JSON for people and programs: what a terminal would take for a command is written as an escape, which means the same. */
export function escapedJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  const asEscape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(unprintableInText, asEscape);
}

/** The longest beginning of a text that fits so many columns, with an ellipsis where something is left out. */
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
