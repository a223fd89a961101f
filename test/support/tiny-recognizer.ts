import { join } from "node:path";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";

/** The language of all recordings that `tinyRecognizer` can transcribe. */
export const tinyLanguage = { language: "en" } as const;

/**
 * Writes a tiny recognizer with random weights, for tests in which the words do not matter. It transcribes a chunk in a
 * fraction of a second. Its words are meaningless, but the same audio always has the same ones.
 * @param seed another one gives other words
 * @returns the settings of a server or worker that uses it
 */
export function tinyRecognizer(
  directory: string,
  { name = "parakeet-tiny.bin", seed = tinyModel.seed } = {},
): { readonly TRANSCRIBE_ENGINE_WHISPER_MODEL: string } {
  const path = join(directory, name);
  writeRandomModel(path, { ...tinyModel, seed });
  return { TRANSCRIBE_ENGINE_WHISPER_MODEL: path };
}
