import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { smallParakeet, tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";

/** The language of all recordings that the tiny recognizer can transcribe. */
export const tinyLanguage = { language: "en" } as const;

/** The model's file has one place in a checkout, because results of self-tests name a model by its path and its time. */
const PATH = join(root, "build/test-models/parakeet-tiny.bin");

/** Settings of a server with the tiny recognizer. */
type TinyRecognizer = { readonly TRANSCRIBE_ENGINE_WHISPER_MODEL: string };

let written: TinyRecognizer | null = null;

/**
 * Returns the settings of a recognizer with random weights, for tests in which the words do not matter. It transcribes a
 * chunk in a fraction of a second. Its words are meaningless, but the same audio always has the same ones. Later servers
 * and runs reuse the results of its self-tests, which take seconds.
 */
export function tinyRecognizer(): TinyRecognizer {
  written ??= writeOnce();
  return written;
}

function writeOnce(): TinyRecognizer {
  const { bytes } = smallParakeet(tinyModel);
  if (!existsSync(PATH) || !readFileSync(PATH).equals(bytes)) {
    mkdirSync(dirname(PATH), { recursive: true });
    const temporary = `${PATH}-${process.pid}`;
    writeFileSync(temporary, bytes);
    renameSync(temporary, PATH);
  }
  return { TRANSCRIBE_ENGINE_WHISPER_MODEL: PATH };
}

/**
 * Writes a tiny recognizer that a server imports.
 * @param seed another one gives other words
 * @returns the path of its file
 */
export function writeTinyRecognizer(
  directory: string,
  { name = "parakeet-tiny.bin", seed = tinyModel.seed } = {},
): string {
  const path = join(directory, name);
  writeRandomModel(path, { ...tinyModel, seed });
  return path;
}
