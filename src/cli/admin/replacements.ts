import { Command } from "commander";
import { checkName, getAccount, requireAccount } from "../../accounts/index.ts";
import {
  addReplacement,
  cleanSource,
  cleanTarget,
  importReplacements,
  listReplacements,
  parseReplacements,
  type Replacement,
  removeReplacement,
} from "../../replacements/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { date, type JsonOption, print, printTable, readableTime } from "../output.ts";
import { checkedBy, parsedBy, resourceId, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { dataSettingsOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { readSmallText } from "../small-file.ts";
import { auditor } from "./audit.ts";

/** Largest file of replacements, larger than any list. */
const MAX_FILE_BYTES = 1024 * 1024;

interface EntryOptions extends JsonOption {
  readonly account: string;
  readonly matchCase?: true;
}

/** transcribe replacements add|list|remove|import */
export function replacementsCommand(): Command {
  return new Command("replacements")
    .description("Manage the words that an account's transcripts always write in one way.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand())
    .addCommand(importCommand());
}

/** Returns a command with the options of new entries. */
function entryCommand(name: string, description: string): Command {
  return settingsCommand(name, description)
    .requiredOption("--account <name>", "the account's name or id", checkedBy(checkName))
    .option("--match-case", "replace the words only in exactly this case");
}

function addCommand(): Command {
  const description =
    "Add a replacement, or change the one of the same words. It applies to transcripts that are made afterwards.";
  return entryCommand("add", description)
    .argument("<words>", "the words as they are recognized", parsedBy(cleanSource))
    .argument("<text>", "the text that is written instead", parsedBy(cleanTarget))
    .action((source: string, target: string, options: EntryOptions, command: Command) => {
      const store = openStoreOf(command);
      const account = requireAccount(store, options.account);
      const entry = { source, target, matchesCase: options.matchCase === true };
      const added = addReplacement(store, account, entry, auditor());
      print(options, toJson(added), () => `added replacement ${added.id}`);
    });
}

function listCommand(): Command {
  return settingsCommand("list", "List the replacements of an account.")
    .requiredOption("--account <name>", "the account's name or id", checkedBy(checkName))
    .action((options: EntryOptions, command: Command) => {
      const store = openStoreOf(command);
      const account = requireAccount(store, options.account);
      const none = `no replacements; add one with: transcribe replacements add WORDS TEXT --account ${account.name}`;
      printTable(options, listReplacements(store, account.id), toJson, none, {
        ID: ({ id }) => id,
        WORDS: ({ source }) => printable(source),
        "WRITTEN AS": ({ target }) => printable(target),
        CASE: ({ matchesCase }) => (matchesCase ? "exact" : "any"),
        CREATED: ({ createdAt }) => readableTime(createdAt),
      });
    });
}

function removeCommand(): Command {
  return settingsCommand("remove", "Remove a replacement. Transcripts that exist keep their words.")
    .argument("<id>", "the replacement's id", resourceId)
    .action((id: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const removed = removeReplacement(store, id, auditor());
      const name = getAccount(store, removed.accountId)?.name ?? removed.accountId;
      print(options, toJson(removed), () => `removed replacement ${id} of ${name}`);
    });
}

interface ImportOptions extends EntryOptions {
  readonly replaceAll?: true;
}

function importCommand(): Command {
  const description =
    "Add the replacements of a file, or none if one of them is wrong. Each line has the words, `=>` or a tab, and the text.";
  return entryCommand("import", description)
    .argument("<file>", "a text file; - reads standard input", someText)
    .option("--replace-all", "remove all other replacements of the account")
    .action((file: string, options: ImportOptions, command: Command) => {
      const settings = dataSettingsOf(command);
      // Before root becomes the directory's owner, who may not be able to read the file.
      const text = readSmallText(file === "-" ? 0 : file, "the list", MAX_FILE_BYTES);
      const entries = parseReplacements(text, options.matchCase === true);
      const store = openStoreIn(new DataDirectory(settings.storage.data_dir));
      const account = requireAccount(store, options.account);
      const added = importReplacements(store, account, entries, auditor(), options.replaceAll === true);
      print(options, added.map(toJson), () => `imported ${count(added.length, "replacement")} for ${account.name}`);
    });
}

function toJson({ id, accountId, source, target, matchesCase, createdAt, createdBy }: Replacement) {
  return {
    ...{ id, account_id: accountId, words: source, text: target, match_case: matchesCase },
    ...{ created_at: date(createdAt), created_by: createdBy },
  };
}
