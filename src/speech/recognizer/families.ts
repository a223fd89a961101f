import { parakeetFamily } from "./parakeet/index.ts";
import type { Language, RecognizerFamily } from "./recognizer.ts";
import { whisperFamily } from "./whisper/index.ts";

/** All model families. Whisper is the last one, because it recognizes any file in ggml form. */
const families: readonly RecognizerFamily[] = [parakeetFamily, whisperFamily];

/**
 * Returns the family of a model file, by its first bytes; Whisper's for an unknown file, whose error message says so.
 * @throws {Error} when the file cannot be read
 */
export function familyOf(path: string): RecognizerFamily {
  return families.find((family) => family.recognizesFile(path)) ?? whisperFamily;
}

/** Returns whether a model can translate speech to English. @throws {Error} when its file cannot be read */
export function canTranslate(path: string): boolean {
  return familyOf(path).canTranslate(path);
}

/** Checks that native code can load a model file. @throws {ModelFileError} that says what is wrong and what to do */
export function validateModelFile(path: string): void {
  familyOf(path).validateFile(path);
}

/**
 * Returns the languages that a model knows, sorted by code. @throws {Error} with a hint when the file is not a model
 */
export function readModelLanguages(path: string): Language[] {
  return familyOf(path).readLanguages(path);
}
