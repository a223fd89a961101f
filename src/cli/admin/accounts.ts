import { Command, InvalidArgumentError, Option } from "commander";
import {
  type Account,
  type AccountChanges,
  changeAccount,
  checkName,
  createAccount,
  listAccounts,
  normalizeVocabulary,
  requireAccount,
  type Standing,
  setVocabulary,
} from "../../accounts/index.ts";
import { values } from "../../database/index.ts";
import {
  MAX_RETENTION_DAYS,
  type Retention,
  removeAccount,
  retentionOf,
  serverRetention,
} from "../../library/index.ts";
import { Recordings } from "../../recordings/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { limitNames, parseAccountLimits } from "../../usage/index.ts";
import { switchVoices } from "../../voices/index.ts";
import { UsageError } from "../command-error.ts";
import { date, type JsonOption, optionalDate, print, printTable, readableTime, table } from "../output.ts";
import { checkedBy, moment, parsedBy, someText, wholeNumber } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { dataDirectoryOf, dataSettingsOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { readSmallText } from "../small-file.ts";
import { auditor, operator } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";

interface ChangeOptions extends JsonOption {
  readonly standing?: Standing;
  readonly subscription?: number | "forever";
  readonly priority?: number;
}

/** transcribe accounts create|list|set|limits|retention|vocabulary|delete */
export function accountsCommand(): Command {
  return new Command("accounts")
    .description("Manage the accounts that may use the API.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(limitsCommand())
    .addCommand(retentionCommand())
    .addCommand(vocabularyCommand())
    .addCommand(deleteCommand());
}

function createCommand(): Command {
  return changeCommand("create", "Create an account. Only its own keys can access its recordings.")
    .argument("<name>", "1 to 64 letters, digits, '.', '_' or '-'", checkedBy(checkName))
    .action((name: string, options: ChangeOptions, command: Command) => {
      const account = createAccount(openStoreOf(command), name, auditor(), changesOf(options));
      const next = `transcribe keys create --account ${account.name}`;
      print(options, accountJson(account), () => `created account ${account.name}; next: ${next}`);
    });
}

function listCommand(): Command {
  return settingsCommand("list", "List the accounts.").action((options: JsonOption, command: Command) => {
    const none = "no accounts; create one with: transcribe accounts create NAME";
    printTable(options, listAccounts(openStoreOf(command)), accountJson, none, {
      NAME: ({ name }) => name,
      STANDING: ({ standing }) => standing,
      "SUBSCRIBED UNTIL": ({ subscribedUntil }) =>
        subscribedUntil === null ? "forever" : subscribedUntil === 0 ? "none" : readableTime(subscribedUntil),
      PRIORITY: ({ priority }) => String(priority),
      ID: ({ id }) => id,
      CREATED: ({ createdAt }) => readableTime(createdAt),
    });
  });
}

interface SetOptions extends ChangeOptions {
  readonly voices?: "on" | "off";
  readonly yes?: boolean;
}

function setCommand(): Command {
  return changeCommand("set", "Change an account's standing, subscription or priority, or whether it remembers voices.")
    .argument("<account>", "its name or id", checkedBy(checkName))
    .addOption(
      new Option(
        "--voices <state>",
        "whether it remembers the voices of speakers, to propose their names later; off deletes all of its voices",
      ).choices(["on", "off"]),
    )
    .option("--yes", "with --voices off: confirms the deletion, which can't be undone")
    .action(async (name: string, options: SetOptions, command: Command) => {
      const changes = changesOf(options);
      const { voices, yes = false } = options;
      if (Object.keys(changes).length === 0 && voices === undefined) {
        throw new UsageError("name the change: --standing, --subscription, --priority or --voices");
      }
      if (voices === "off" && !yes) {
        throw new UsageError(
          "--voices off deletes all voices of the account, which can't be undone; confirm it with --yes",
        );
      }
      if (yes && voices !== "off") throw new UsageError("--yes only confirms --voices off; leave it out");
      const store = openStoreOf(command);
      let account = requireAccount(store, name);
      if (Object.keys(changes).length > 0) account = changeAccount(store, account, auditor(), changes);
      if (voices !== undefined) account = await switchVoices(store, account, auditor(), voices === "on");
      if (voices === "off") await emptyLog(store);
      print(options, accountJson(account), () => `changed account ${account.name}`);
    });
}

/** Options of `accounts limits`, one for each limit. */
const limitOptions = limitNames.map((name) => ({
  name,
  option: new Option(`--${name.replaceAll("_", "-")} <number|default>`, `overrides limits.${name}`).argParser(
    limitValue,
  ),
}));

function limitsCommand(): Command {
  const command = settingsCommand("limits", "Show or set an account's own limits, which override the settings.");
  for (const { option } of limitOptions) command.addOption(option);
  return command
    .argument("<account>", "its name or id", checkedBy(checkName))
    .action((name: string, options: Record<string, unknown> & JsonOption, self: Command) => {
      const store = openStoreOf(self);
      const account = requireAccount(store, name);
      const limits = { ...parseAccountLimits(account.limits) };
      const given = limitOptions.filter(({ option }) => options[option.attributeName()] !== undefined);
      for (const { name: limit, option } of given) {
        const value = options[option.attributeName()];
        if (typeof value === "number") limits[limit] = value;
        else delete limits[limit];
      }
      const changed = given.length === 0 ? account : changeAccount(store, account, auditor(), { limits });
      print(options, accountJson(changed), () =>
        table(limitNames, { LIMIT: (limit) => limit, VALUE: (limit) => String(limits[limit] ?? "default") }, ""),
      );
    });
}

interface RetentionOptions extends JsonOption {
  readonly audioDays?: number | "default";
  readonly completedDays?: number | "default";
}

function retentionCommand(): Command {
  const description =
    "Show or set an account's own retention, which overrides the settings. The server applies it within an hour.";
  return settingsCommand("retention", description)
    .argument("<account>", "its name or id", checkedBy(checkName))
    .option(
      "--audio-days <days|default>",
      "days for which the audio is kept; 0 removes it at once (retention.audio_days)",
      retentionDays,
    )
    .option(
      "--completed-days <days|default>",
      "days after which recordings are deleted with their transcripts; 0 keeps them (retention.completed_days)",
      retentionDays,
    )
    .action((name: string, { audioDays, completedDays, ...options }: RetentionOptions, command: Command) => {
      const settings = dataSettingsOf(command);
      const store = openStoreIn(new DataDirectory(settings.storage.data_dir));
      const account = requireAccount(store, name);
      const days = (value: number | "default") => (value === "default" ? null : value);
      const changes = {
        ...(audioDays === undefined ? {} : { audioDays: days(audioDays) }),
        ...(completedDays === undefined ? {} : { completedDays: days(completedDays) }),
      };
      const isChange = Object.keys(changes).length > 0;
      const current = isChange ? changeAccount(store, account, auditor(), changes) : account;
      print(options, accountJson(current), () => retentionText(current, serverRetention(settings.retention), isChange));
    });
}

/** Describes how long the recordings of an account are kept, and where each number of days comes from. */
function retentionText(account: Account, server: Retention, isChanged: boolean): string {
  const { audioDays, completedDays } = retentionOf(account, server);
  const from = (own: number | null) => (own === null ? "settings" : "account");
  const lines = [
    `audio: ${audioDays === 0 ? "removed at once" : count(audioDays, "day")} (${from(account.audioDays)})`,
    `recordings and transcripts: ${completedDays === 0 ? "kept" : count(completedDays, "day")} (${from(account.completedDays)})`,
    ...(isChanged ? ["the server applies this within an hour, also to recordings that have ended before"] : []),
  ];
  return lines.join("\n");
}

/** Largest file of a vocabulary, larger than any vocabulary. */
const MAX_FILE_BYTES = 64 * 1024;

interface VocabularyOptions extends JsonOption {
  readonly file?: string;
  readonly clear?: boolean;
}

/** transcribe accounts vocabulary ACCOUNT [TEXT] */
function vocabularyCommand(): Command {
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

function deleteCommand(): Command {
  const description =
    "Delete an account with its keys, workspaces and recordings. Recordings in progress are cancelled.";
  return settingsCommand("delete", description)
    .argument("<account>", "its name or id", checkedBy(checkName))
    .requiredOption("--yes", "confirms the deletion, which can't be undone")
    .action(async (name: string, options: JsonOption, command: Command) => {
      const directory = dataDirectoryOf(command);
      const store = openStoreIn(directory);
      const account = requireAccount(store, name);
      const recordings = new Recordings(store, Date.now);
      const services = { store, recordings, dataDirectory: directory, now: Date.now };
      const removed = await removeAccount(services, operator(), account);
      await emptyLog(store);
      const done = () => `deleted account ${account.name} and ${count(removed, "recording")}`;
      print(options, accountJson(account), done);
    });
}

function changeCommand(name: string, description: string): Command {
  return settingsCommand(name, description)
    .addOption(new Option("--standing <standing>", "what it may do").choices(values.standings))
    .option("--subscription <end>", "'forever', 'none', or its end: 2026-12-31 or 90d", subscriptionEnd)
    .option(
      "--priority <number>",
      "recordings of accounts with a higher priority are processed first (default: 0)",
      wholeNumber,
    );
}

function changesOf({ standing, subscription, priority }: ChangeOptions): AccountChanges {
  return {
    ...(standing === undefined ? {} : { standing }),
    ...(subscription === undefined ? {} : { subscribedUntil: subscription === "forever" ? null : subscription }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/** Parses the end of a subscription. Not null for none, which commander takes for a missing value. */
function subscriptionEnd(text: string): number | "forever" {
  if (text === "forever") return text;
  return text === "none" ? 0 : moment(text);
}

/** Parses a number, or "default" for the settings' limit. Not null, which commander takes for a missing value. */
function limitValue(text: string): number | "default" {
  if (text === "default") return text;
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It takes a whole number, or default.");
  return Number(text);
}

/** Parses a number of days, or "default" for that of the settings. */
function retentionDays(text: string): number | "default" {
  if (text === "default") return text;
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_RETENTION_DAYS) return Number(text);
  throw new InvalidArgumentError(`It takes a whole number of days up to ${MAX_RETENTION_DAYS}, or default.`);
}

/** Converts an account to the format that commands print with --json. */
function accountJson(account: Account) {
  return {
    id: account.id,
    name: account.name,
    standing: account.standing,
    subscribed_until: optionalDate(account.subscribedUntil),
    priority: account.priority,
    limits: parseAccountLimits(account.limits),
    retention: { audio_days: account.audioDays, completed_days: account.completedDays },
    vocabulary: account.vocabulary,
    voices: account.voices,
    created_at: date(account.createdAt),
  };
}
