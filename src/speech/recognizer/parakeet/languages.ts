import type { Language } from "../recognizer.ts";
import { readVocabularySize } from "./model-file/index.ts";

/** Languages of parakeet-tdt-0.6b-v3, from its model card. */
const EUROPEAN = "bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk".split(" ");
/** Size of the vocabulary of version 3. Earlier versions have 1,024 tokens and know only English. */
const EUROPEAN_VOCABULARY = 8192;

/**
 * Returns a model's languages, sorted by code, by the size of its vocabulary: the file does not name them.
 * @throws {ModelFileError} with a hint for the user
 */
export function readLanguages(modelPath: string): Language[] {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const codes = readVocabularySize(modelPath) === EUROPEAN_VOCABULARY ? EUROPEAN : ["en"];
  return codes.map((code) => ({ code, name: names.of(code) ?? code, modelCode: code }));
}
