import { cleanText } from "../text/index.ts";
import { type ExportFormat, exportExtension } from "./formats.ts";

/** Maximum length of a name in bytes, without its extension. File systems allow 255 with it. */
const MAX_NAME_BYTES = 180;
/** Characters that a file system, a shell or a list of files treats specially. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}"*/:<>?\\|]/u;
/** Invisible characters. Joiners stay, because scripts and emoji need them, and so do the tags of flags. */
const invisible = /(?!\u200C|\u200D|[\u{E0020}-\u{E007F}])(?=\p{Default_Ignorable_Code_Point})\p{Cf}/gu;
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * Returns the file name for an export. Each character's compatibility form is checked as well. A client or file system
 * that normalizes names turns U+FF02 into a quotation mark, U+FF0F into a slash and U+2025 into two dots.
 * @param sourceName the recording's name; null for a link
 * @param translation language of an exported translation, which the name has as players expect it: `talk.en.srt`
 */
export function exportFileName(
  sourceName: string | null,
  format: ExportFormat,
  translation: string | null = null,
): string {
  const safe = (sourceName ?? "").replace(/./gsu, (character) =>
    unsafe.test(character.normalize("NFKD")) ? "_" : character,
  );
  const visible = cleanText(safe, "as typed").replace(invisible, "");
  const characters = Array.from(graphemes.segment(visible), ({ segment }) => segment);
  const start = characters.findIndex((character) => !/^[. ]/.test(character.normalize("NFKD")));
  const end = characters.findLastIndex((character) => !/[. ]$/.test(character.normalize("NFKD")));
  let stem = "";
  for (const character of start < 0 ? [] : characters.slice(start, end + 1)) {
    // The compatibility form of some characters is longer.
    if (Buffer.byteLength((stem + character).normalize("NFKD")) > MAX_NAME_BYTES) break;
    stem += character;
  }
  const ending = `${translation === null ? "" : `.${translation}`}.${exportExtension(format)}`;
  return `${stem === "" ? "transcript" : stem}${ending}`;
}
