export type Direction = "ltr" | "rtl";

const rightToLeftScripts = "\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}";
/** Letters of these scripts, and the marks that have their direction. */
const rightToLeft = new RegExp(`[${rightToLeftScripts}\\u200F\\u061C]`, "u");
const letter = /[\p{L}\u200E\u200F\u061C]/u;

/** ISO 639 codes of the languages that the recognizer writes from right to left. */
const languages = new Set(["ar", "fa", "he", "ps", "sd", "ur", "yi"]);

/** Returns the direction of the document elements around a text in this language. */
export function directionOfLanguage(language: string | null): Direction {
  return languages.has(language ?? "") ? "rtl" : "ltr";
}

/** Returns the direction of a paragraph, derived from its first letter or direction mark (UAX #9, P2). */
export function directionOfText(text: string): Direction {
  return rightToLeft.test(letter.exec(text)?.[0] ?? "") ? "rtl" : "ltr";
}

/** Returns whether any part of a text is read from right to left. */
export function hasRightToLeft(text: string): boolean {
  return rightToLeft.test(text);
}
