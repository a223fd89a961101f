import type { Language } from "../recognizer.ts";
import { readModelHeader } from "./model-header.ts";

/** Whisper's languages in the order of their tokens; models before large-v3 lack the last one. */
const whisperCodes = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy " +
  "sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo " +
  "uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
).split(" ");

/** ISO codes of the languages for which the model uses another code. */
const isoCodes: Readonly<Record<string, string>> = { jw: "jv" };

/** Number of tokens in the English-only vocabulary, and in the multilingual one without its language tokens. */
const englishVocabulary = 51_864;
const multilingualVocabularyWithoutLanguages = 51_766;

/**
 * Returns the languages that a model accepts, sorted by code, as derived from the size of its
 * vocabulary.
 * @throws {Error} with a hint for the user when the file is not such a model
 */
export function readLanguages(modelPath: string): Language[] {
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
    .map((modelCode) => {
      const code = isoCodes[modelCode] ?? modelCode;
      return { code, name: names.of(code) ?? code, modelCode };
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  known.set(vocabularySize, languages);
  return languages;
}
