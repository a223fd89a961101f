import { closeSync, openSync, readSync } from "node:fs";
import { Command } from "commander";
import { normalizeVocabulary, requireAccount, setVocabulary } from "../../accounts/index.ts";
import { programFilesFor, speechModelsFor } from "../../server/index.ts";
import { familyOf } from "../../speech/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { print } from "../output.ts";
import { printable } from "../printable.ts";
import { addSettingsOptions, dataSettingsOf, openStoreIn } from "../settings-options.ts";
import { accountJson } from "./account-json.ts";
import { auditor } from "./auditor.ts";

interface VocabularyOptions {
  readonly file?: string;
  readonly clear?: boolean;
  readonly json?: boolean;
}

/** transcribe accounts vocabulary ACCOUNT [TEXT] */
export function vocabularyCommand(): Command {
  return addSettingsOptions(new Command("vocabulary"), ["storage.data_dir"])
    .description(
      "Show or set the names and terms to expect in an account's recordings. They count for recordings created from then on.",
    )
    .argument("<account>", "its name or id")
    .argument("[text]", "names and terms, as they are to be written, parted by commas; about a hundred words at most")
    .option("--file <file>", "read them from a file, a line each or parted by commas; - reads standard input")
    .option("--clear", "take the vocabulary away")
    .option("--json", "print the account as JSON")
    .action(async (name: string, text: string | undefined, options: VocabularyOptions, command: Command) => {
      const wanted = wantedOf(text, options);
      const settings = dataSettingsOf(command);
      const dataDirectory = new DataDirectory(settings.storage.data_dir);
      const files = wanted === undefined || wanted === null ? null : await programFilesFor(settings);
      const store = openStoreIn(dataDirectory);
      const account = requireAccount(store, name);
      if (wanted !== undefined && wanted !== null && files !== null) {
        requireShortEnough(wanted, speechModelsFor(settings, { files, dataDirectory, store }).requireCurrent().path);
      }
      const now = wanted === undefined ? account : setVocabulary(store, account, auditor(), wanted);
      print(options.json === true, accountJson(now), () => shown(now.name, now.vocabulary, wanted !== undefined));
    });
}

/** Returns the requested vocabulary: undefined to show the current one, null to remove it. */
function wantedOf(text: string | undefined, { file, clear }: VocabularyOptions): string | null | undefined {
  const asked = [text !== undefined, file !== undefined, clear === true].filter((one) => one).length;
  if (asked > 1) throw new CommandError("give the text, --file or --clear, one of them", exitCodes.usage);
  if (clear === true) return null;
  if (file !== undefined) return normalizeVocabulary(readText(file));
  return text === undefined ? undefined : normalizeVocabulary(text);
}

function readText(file: string): string {
  const bytes = readBytes(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`${printable(file)} is not text in UTF-8`);
  }
}

/** Maximum number of bytes read from a file, larger than any vocabulary. A file of this size or more is an error. */
const readAtMost = 64 * 1024;

function readBytes(file: string): Buffer {
  const buffer = Buffer.alloc(readAtMost);
  let filled = 0;
  try {
    const opened = file === "-" ? 0 : openSync(file, "r");
    for (let read = -1; read !== 0 && filled < readAtMost; filled += read) {
      read = readSync(opened, buffer, filled, readAtMost - filled, null);
    }
    if (opened !== 0) closeSync(opened);
  } catch (error) {
    throw new CommandError(`the vocabulary can't be read: ${printable(messageOf(error))}`);
  }
  if (filled === readAtMost) throw new CommandError(`${printable(file)} is far too long for a vocabulary`);
  return buffer.subarray(0, filled);
}

/** Checks a vocabulary's length. @throws {CommandError} when it has more tokens than the speech model takes */
function requireShortEnough(vocabulary: string, modelPath: string): void {
  const { tokens, limit } = countTokens(modelPath, vocabulary);
  if (tokens <= limit) return;
  const excess = Math.ceil((1 - limit / tokens) * 100);
  throw new CommandError(
    `the vocabulary is too long: it has ${tokens} tokens, and the speech model takes ${limit}; leave out about ${excess} % of it`,
  );
}

function countTokens(modelPath: string, vocabulary: string): { tokens: number; limit: number } {
  try {
    const { capabilities, countVocabularyTokens } = familyOf(modelPath);
    return { tokens: countVocabularyTokens(modelPath, vocabulary), limit: capabilities.vocabularyTokens };
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

function shown(name: string, vocabulary: string | null, changed: boolean): string {
  if (!changed) return vocabulary === null ? `account ${name} has no vocabulary` : printable(vocabulary);
  return vocabulary === null
    ? `account ${name} has no vocabulary any more`
    : `new recordings of account ${name} are transcribed with this vocabulary`;
}
