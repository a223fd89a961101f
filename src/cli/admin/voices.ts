import { Command, InvalidArgumentError } from "commander";
import { checkName, requireAccount } from "../../accounts/index.ts";
import type { Store } from "../../database/index.ts";
import { isVoiceName, MAX_NAME_CHARACTERS, type Voice, Voices, VoicesError } from "../../voices/index.ts";
import { CommandError } from "../command-error.ts";
import { date, type JsonOption, print, printTable, readableTime } from "../output.ts";
import { checkedBy, resourceId } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";

/** transcribe voices list|rename|delete */
export function voicesCommand(): Command {
  return new Command("voices")
    .description(
      "Manage the voices that accounts remember, which propose names for speakers. Accounts opt in with: transcribe accounts set NAME --voices on.",
    )
    .addCommand(listCommand())
    .addCommand(renameCommand())
    .addCommand(deleteCommand());
}

function listCommand(): Command {
  return settingsCommand("list", "List the voices of an account.")
    .requiredOption("--account <name>", "the account's name or id", checkedBy(checkName))
    .action((options: JsonOption & { account: string }, command: Command) => {
      const store = openStoreOf(command);
      const account = requireAccount(store, options.account);
      const none = account.voices
        ? "no voices"
        : `account ${account.name} does not remember voices; to change that: transcribe accounts set ${account.name} --voices on`;
      printTable(options, new Voices(store).list(account.id), (voice) => toJson(voice, account.id), none, {
        NAME: ({ name }) => printable(name),
        RECORDINGS: ({ examples }) => String(examples),
        SECONDS: ({ seconds }) => seconds.toFixed(1),
        USABLE: ({ isCurrent }) => (isCurrent ? "yes" : "no: of another embedding model"),
        BY: ({ createdBy }) => printable(createdBy),
        CREATED: ({ createdAt }) => readableTime(createdAt),
        ID: ({ id }) => id,
      });
    });
}

function renameCommand(): Command {
  return settingsCommand("rename", "Rename a voice. Speakers in recordings keep their names.")
    .argument("<id>", "the voice's id, as listed", resourceId)
    .argument("<name>", `its new name, of 1 to ${MAX_NAME_CHARACTERS} characters`, voiceName)
    .action((id: string, name: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const voices = new Voices(store);
      orRefused(id, () => voices.rename(id, name, auditor()));
      print(options, found(store, id), () => `voice ${id} is renamed`);
    });
}

function voiceName(text: string): string {
  if (isVoiceName(text.trim())) return text;
  throw new InvalidArgumentError(`It takes 1 to ${MAX_NAME_CHARACTERS} characters, and no control characters.`);
}

function deleteCommand(): Command {
  return settingsCommand("delete", "Delete a voice. Speakers in recordings keep their names.")
    .argument("<id>", "the voice's id, as listed", resourceId)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const before = orRefused(id, () => found(store, id));
      await new Voices(store).delete(id, auditor());
      await emptyLog(store);
      print(options, before, () => `voice ${id} is deleted`);
    });
}

function found(store: Store, id: string) {
  const voices = new Voices(store);
  const accountId = voices.accountOf(id);
  const voice = voices.list(accountId).find((each) => each.id === id);
  if (voice === undefined) throw new VoicesError("not_found");
  return toJson(voice, accountId);
}

/** @throws {CommandError} if a voice is not read or changed */
function orRefused<T>(id: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof VoicesError)) throw error;
    if (error.refusal === "name_taken") throw new CommandError("the account has another voice of this name");
    throw new CommandError(`there is no voice ${printable(id)}; list them with: transcribe voices list --account NAME`);
  }
}

function toJson({ id, name, createdBy, createdAt, examples, seconds, isCurrent }: Voice, accountId: string) {
  return {
    ...{ id, name, account_id: accountId, recordings: examples, seconds },
    ...{ usable: isCurrent, created_by: createdBy, created_at: date(createdAt) },
  };
}
