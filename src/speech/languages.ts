import { readModelHeader } from "./recognizer/whisper/index.ts";

/** A language in ISO codes, with the code whisper knows it by. */
export interface Language {
  /** ISO 639-1, or 639-3 where 639-1 has none. */
  readonly code: string;
  /** In English. */
  readonly name: string;
  readonly whisperCode: string;
}

/** Whisper's languages in the order of their tokens; models before large-v3 lack the last. */
const whisperCodes = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy " +
  "sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo " +
  "uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
).split(" ");

/** Where whisper's code is not the ISO one. */
const isoCodes: Readonly<Record<string, string>> = { jw: "jv" };

/** Tokens of the English-only vocabulary, and of the multilingual one without its languages. */
const englishVocabulary = 51_864;
const multilingualVocabularyWithoutLanguages = 51_766;

/**
 * The languages a whisper model (ggml) accepts, sorted by code. The size of its vocabulary tells them.
 * @throws an Error that says what to do where the file is no such model
 */
export function readModelLanguages(modelPath: string): Language[] {
  return languagesOf(readModelHeader(modelPath).vocabularySize);
}

const known = new Map<number, Language[]>();

function languagesOf(vocabularySize: number): Language[] {
  const before = known.get(vocabularySize);
  if (before !== undefined) return before;
  const count = vocabularySize <= englishVocabulary ? 1 : vocabularySize - multilingualVocabularyWithoutLanguages;
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const languages = whisperCodes
    .slice(0, count)
    .map((whisperCode) => {
      const code = isoCodes[whisperCode] ?? whisperCode;
      return { code, name: names.of(code) ?? code, whisperCode };
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  known.set(vocabularySize, languages);
  return languages;
}
