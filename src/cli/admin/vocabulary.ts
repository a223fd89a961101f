import type { Command } from "commander";
import { checkName, normalizeVocabulary, requireAccount, setVocabulary } from "../../accounts/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { UsageError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { checkedBy, parsedBy, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { dataSettingsOf, openStoreIn, settingsCommand } from "../settings-options.ts";
import { readSmallText } from "../small-file.ts";
import { accountJson } from "./account-json.ts";
import { auditor } from "./audit.ts";

interface VocabularyOptions extends JsonOption {
  readonly file?: string;
  readonly clear?: boolean;
}

/** Largest file of a vocabulary, larger than any vocabulary. */
const MAX_FILE_BYTES = 64 * 1024;

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
  return file === undefined
    ? text
    : normalizeVocabulary(readSmallText(file === "-" ? 0 : file, "the vocabulary", MAX_FILE_BYTES));
}
