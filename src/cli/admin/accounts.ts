import { Command, InvalidArgumentError, Option } from "commander";
import {
  type AccountChanges,
  changeAccount,
  checkName,
  createAccount,
  limitNames,
  listAccounts,
  parseAccountLimits,
  requireAccount,
  type Standing,
} from "../../accounts/index.ts";
import { removeAccount } from "../../library/index.ts";
import { Recordings } from "../../recordings/index.ts";
import { values } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { switchVoices } from "../../voices/index.ts";
import { UsageError } from "../command-error.ts";
import { type JsonOption, print, readableTime, table } from "../output.ts";
import { checkedBy, moment, wholeNumber } from "../parse-option.ts";
import { dataDirectoryOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { accountJson } from "./account-json.ts";
import { auditor, operator } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";
import { vocabularyCommand } from "./vocabulary.ts";

interface ChangeOptions extends JsonOption {
  readonly standing?: Standing;
  readonly subscription?: number | "forever";
  readonly priority?: number;
}

/** transcribe accounts create|list|set|limits|vocabulary|delete */
export function accountsCommand(): Command {
  return new Command("accounts")
    .description("Manage the accounts that may use the API.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(limitsCommand())
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
    const accounts = listAccounts(openStoreOf(command));
    print(options, accounts.map(accountJson), () =>
      table(
        accounts,
        {
          NAME: ({ name }) => name,
          STANDING: ({ standing }) => standing,
          "SUBSCRIBED UNTIL": ({ subscribedUntil }) =>
            subscribedUntil === null ? "forever" : subscribedUntil === 0 ? "none" : readableTime(subscribedUntil),
          PRIORITY: ({ priority }) => String(priority),
          ID: ({ id }) => id,
          CREATED: ({ createdAt }) => readableTime(createdAt),
        },
        "no accounts; create one with: transcribe accounts create NAME",
      ),
    );
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
