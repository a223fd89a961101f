import { closeSync, openSync, readSync } from "node:fs";
import type { Command } from "commander";
import { checkName, normalizeVocabulary, requireAccount, setVocabulary } from "../../accounts/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { checkedBy, parsedBy, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { dataSettingsOf, openStoreIn, settingsCommand } from "../settings-options.ts";
import { accountJson } from "./account-json.ts";
import { auditor } from "./audit.ts";

interface VocabularyOptions extends JsonOption {
  readonly file?: string;
  readonly clear?: boolean;
}

/** transcribe accounts vocabulary ACCOUNT [TEXT] */
export function vocabularyCommand(): Command {
  const description =
    "Show or set the names and terms to expect in an account's recordings. A change applies to recordings created afterwards.";
  return settingsCommand("vocabulary", description)
    .argument("<account>", "its name or id", checkedBy(checkName))
    .argument(
      "[text]",
      "names and terms in their correct spelling, separated by commas; at most about a hundred words",
      parsedBy(normalizeVocabulary),
    )
    .option(
      "--file <file>",
      "read them from a file, one per line or separated by commas; - reads standard input",
      someText,
    )
    .option("--clear", "remove the vocabulary")
    .action(async (name: string, text: string | undefined, options: VocabularyOptions, command: Command) => {
      const wanted = wantedOf(text, options);
      // Loaded before root becomes the directory's owner, who may not be able to read this program's files.
      const { requireShortEnough } = await import("./vocabulary-length.ts");
      const settings = dataSettingsOf(command);
      const dataDirectory = new DataDirectory(settings.storage.data_dir);
      const store = openStoreIn(dataDirectory);
      const account = requireAccount(store, name);
      if (typeof wanted === "string") await requireShortEnough(wanted, settings, dataDirectory, store);
      const current = wanted === undefined ? account : setVocabulary(store, account, auditor(), wanted);
      print(options, accountJson(current), () => {
        if (current.vocabulary === null) return `account ${current.name} has no vocabulary`;
        if (wanted === undefined) return printable(current.vocabulary);
        return `account ${current.name} has a new vocabulary, which applies to new recordings`;
      });
    });
}

/** Returns the requested vocabulary: undefined to show the current one, null to remove it. */
function wantedOf(text: string | undefined, { file, clear }: VocabularyOptions): string | null | undefined {
  if ([text !== undefined, file !== undefined, clear === true].filter((given) => given).length > 1) {
    throw new UsageError("give only one of: the text, --file, --clear");
  }
  if (clear === true) return null;
  return file === undefined ? text : normalizeVocabulary(readText(file));
}

function readText(file: string): string {
  const bytes = readBytes(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`${printable(file)} is not UTF-8 text`);
  }
}

/** Maximum number of bytes read from a file, larger than any vocabulary. A file of this size or more is an error. */
const MAX_FILE_BYTES = 64 * 1024;

function readBytes(file: string): Buffer {
  const buffer = Buffer.alloc(MAX_FILE_BYTES);
  let filled = 0;
  try {
    const opened = file === "-" ? 0 : openSync(file, "r");
    for (let read = -1; read !== 0 && filled < MAX_FILE_BYTES; filled += read) {
      read = readSync(opened, buffer, filled, MAX_FILE_BYTES - filled, null);
    }
    if (opened !== 0) closeSync(opened);
  } catch (error) {
    throw new CommandError(`can't read the vocabulary: ${printable(messageOf(error))}`);
  }
  if (filled === MAX_FILE_BYTES) throw new CommandError(`${printable(file)} is too long for a vocabulary`);
  return buffer.subarray(0, filled);
}
