import { runtimeDirectoryOf, type Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import { SpeechModels } from "../../models/index.ts";
import { programFiles } from "../../program/index.ts";
import { familyOf } from "../../speech/index.ts";
import type { DataDirectory } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";

/** Checks a vocabulary's length. @throws {CommandError} when it has more tokens than the speech model in use takes */
export async function requireShortEnough(
  vocabulary: string,
  settings: Settings,
  dataDirectory: DataDirectory,
  store: Store,
): Promise<void> {
  const speech = SpeechModels.of(settings, {
    files: await programFiles(runtimeDirectoryOf(settings)),
    dataDirectory,
    store,
  });
  const model = speech.requireCurrent();
  // A model without a companion takes the vocabulary itself.
  const { path } = speech.companionOf(model) ?? model;
  let tokens: number;
  let limit: number;
  try {
    const family = familyOf(path);
    tokens = family.countVocabularyTokens(path, vocabulary);
    limit = family.capabilities.vocabularyTokens;
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
  if (tokens <= limit) return;
  const excess = Math.ceil((1 - limit / tokens) * 100);
  throw new CommandError(
    `the vocabulary is too long: it has ${tokens} tokens, and the speech model takes ${limit}; remove about ${excess} % of it`,
  );
}
