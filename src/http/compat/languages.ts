import type { Language } from "../../speech/index.ts";

/** Names by which Whisper knows languages, where they differ from the English names of CLDR, by ISO code. */
const WHISPER_NAMES: Readonly<Record<string, string>> = {
  bn: "bengali",
  mi: "maori",
  my: "myanmar",
  nn: "nynorsk",
  tl: "tagalog",
};

/** Other names and codes that clients send, with the ISO code of the language. The names are those that Whisper accepts. */
const ALIASES: Readonly<Record<string, string>> = {
  arb: "ar",
  burmese: "my",
  castilian: "es",
  cmn: "zh",
  fil: "tl",
  filipino: "tl",
  flemish: "nl",
  haitian: "ht",
  letzeburgesch: "lb",
  mandarin: "zh",
  moldavian: "ro",
  moldovan: "ro",
  nb: "no",
  panjabi: "pa",
  pushto: "ps",
  sinhalese: "si",
  valencian: "ca",
};

const names = new Intl.DisplayNames(["en"], { type: "language" });

/** Returns the lower-case English name of a language, as Whisper writes it. @param code ISO 639 */
export function languageName(code: string): string {
  return WHISPER_NAMES[code] ?? (names.of(code) ?? code).toLowerCase();
}

/**
 * Finds the language that a client means: an ISO code with or without a region, a code of Whisper, or an English name.
 * @returns undefined if the model does not know the language
 */
export function findLanguage(languages: readonly Language[], sent: string): Language | undefined {
  const text = sent.trim().toLowerCase();
  const codes = [text, ALIASES[text], primaryCode(text)];
  const aliasOfCode = ALIASES[primaryCode(text) ?? ""];
  return languages.find(
    ({ code, modelCode, name }) =>
      codes.includes(code) ||
      codes.includes(modelCode) ||
      code === aliasOfCode ||
      text === name.toLowerCase() ||
      text === languageName(code),
  );
}

/** Returns the current ISO code of a language tag without its region: `pt-BR` is `pt`, and `eng` is `en`. */
function primaryCode(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0]?.split("-")[0];
  } catch {
    // Not a language tag by its form.
    return undefined;
  }
}
