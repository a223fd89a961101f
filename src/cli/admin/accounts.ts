import { Command, InvalidArgumentError, Option } from "commander";
import {
  type AccountChanges,
  type AccountLimits,
  changeAccount,
  createAccount,
  deleteAccount,
  type LimitName,
  limitNames,
  listAccounts,
  parseAccountLimits,
  requireAccount,
  type Standing,
} from "../../accounts/index.ts";
import { Recordings } from "../../recordings/index.ts";
import { CommandError } from "../command-error.ts";
import { date, print, table } from "../output.ts";
import { parseMoment } from "../parse-time.ts";
import { addSettingsOptions, dataDirectoryOf, openStoreIn, openStoreOf } from "../settings-options.ts";
import { wholeNumber } from "../whole-number.ts";
import { accountJson } from "./account-json.ts";
import { auditor } from "./auditor.ts";
import { vocabularyCommand } from "./vocabulary.ts";

interface ChangeOptions {
  readonly standing?: Standing;
  readonly subscription?: string;
  readonly priority?: number;
  readonly json?: boolean;
}

/** transcribe accounts create|list|set|limits|vocabulary|delete */
export function accountsCommand(): Command {
  return new Command("accounts")
    .description("Who may use the API.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(limitsCommand())
    .addCommand(vocabularyCommand())
    .addCommand(deleteCommand());
}

function createCommand(): Command {
  return addChangeOptions(addSettingsOptions(new Command("create"), ["storage.data_dir"]))
    .description("Make an account. Its recordings are seen with its keys alone.")
    .argument("<name>", "1 to 64 letters, digits, '.', '_' or '-'")
    .action((name: string, options: ChangeOptions, command: Command) => {
      const account = createAccount(openStoreOf(command), name, auditor(), changesOf(options));
      const next = `transcribe keys create --account ${account.name}`;
      print(options.json === true, accountJson(account), () => `account ${account.name} made; next: ${next}`);
    });
}

function listCommand(): Command {
  return addSettingsOptions(new Command("list"), ["storage.data_dir"])
    .description("List the accounts.")
    .option("--json", "print them as JSON")
    .action((options: { json?: boolean }, command: Command) => {
      const accounts = listAccounts(openStoreOf(command));
      print(options.json === true, accounts.map(accountJson), () =>
        table(
          ["NAME", "STANDING", "SUBSCRIBED UNTIL", "PRIORITY", "ID", "CREATED"],
          accounts.map((account) => [
            account.name,
            account.standing,
            account.subscribedUntil === null ? "for ever" : date(account.subscribedUntil),
            String(account.priority),
            account.id,
            date(account.createdAt),
          ]),
        ),
      );
    });
}

function setCommand(): Command {
  return addChangeOptions(addSettingsOptions(new Command("set"), ["storage.data_dir"]))
    .description("Change an account's standing, subscription or priority.")
    .argument("<account>", "its name or id")
    .action((name: string, options: ChangeOptions, command: Command) => {
      const store = openStoreOf(command);
      const changes = changesOf(options);
      if (Object.keys(changes).length === 0)
        throw new CommandError("say what to change: --standing, --subscription or --priority");
      const account = changeAccount(store, requireAccount(store, name), auditor(), changes);
      print(options.json === true, accountJson(account), () => `account ${account.name} changed`);
    });
}

function limitsCommand(): Command {
  const command = addSettingsOptions(new Command("limits"), ["storage.data_dir"])
    .description("Show or set an account's own limits; the others are the settings'.")
    .argument("<account>", "its name or id")
    .option("--json", "print the account as JSON");
  for (const name of limitNames) {
    command.option(`--${name.replaceAll("_", "-")} <number|default>`, `in place of limits.${name}`, limitValue);
  }
  return command.action((name: string, options: Record<string, unknown>, self: Command) => {
    const store = openStoreOf(self);
    const account = requireAccount(store, name);
    const given = Object.fromEntries(
      limitNames.flatMap((limit) => {
        const value = options[limit.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
        return value === undefined ? [] : [[limit, value]];
      }),
    ) as Partial<Record<LimitName, LimitValue>>;
    const changed =
      Object.keys(given).length === 0
        ? account
        : changeAccount(store, account, auditor(), { limits: merged(parseAccountLimits(account.limits), given) });
    const limits = parseAccountLimits(changed.limits);
    print(options.json === true, accountJson(changed), () =>
      table(
        ["LIMIT", "VALUE"],
        limitNames.map((limit) => [limit, String(limits[limit] ?? "default")]),
      ),
    );
  });
}

function deleteCommand(): Command {
  return addSettingsOptions(new Command("delete"), ["storage.data_dir"])
    .description("Delete an account with its keys, workspaces, recordings and texts. What is running is cancelled.")
    .argument("<account>", "its name or id")
    .requiredOption("--yes", "it can't be undone")
    .option("--json", "print the account as JSON")
    .action(async (name: string, options: { json?: boolean }, command: Command) => {
      const directory = dataDirectoryOf(command);
      const store = openStoreIn(directory);
      const account = requireAccount(store, name);
      const recordings = new Recordings(store, Date.now);
      const ids = recordings.idsOf(account.id);
      await deleteAccount(store, account, auditor());
      for (const id of ids) await directory.filesOf(id).removeAll();
      store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
      print(
        options.json === true,
        accountJson(account),
        () => `account ${account.name} and ${ids.length} recordings deleted`,
      );
    });
}

function addChangeOptions(command: Command): Command {
  return command
    .addOption(new Option("--standing <standing>", "what it may do").choices(["active", "guest", "restricted"]))
    .option("--subscription <end>", "'forever', 'none', or its end: 2026-12-31 or 90d")
    .option(
      "--priority <number>",
      "its recordings go before those of accounts with a lower one (default: 0)",
      wholeNumber,
    )
    .option("--json", "print the account as JSON");
}

function changesOf({ standing, subscription, priority }: ChangeOptions): AccountChanges {
  return {
    ...(standing === undefined ? {} : { standing }),
    ...(subscription === undefined ? {} : { subscribedUntil: subscriptionEnd(subscription) }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function subscriptionEnd(text: string): number | null {
  if (text === "forever") return null;
  return text === "none" ? 0 : parseMoment(text, Date.now());
}

/** A number, or "default" for the settings' limit. Not null, because commander takes it for an option without value. */
type LimitValue = number | "default";

function limitValue(text: string): LimitValue {
  if (text === "default") return text;
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It takes a whole number, or default.");
  return Number(text);
}

function merged(limits: AccountLimits, given: Partial<Record<LimitName, LimitValue>>): AccountLimits {
  const all = Object.entries({ ...limits, ...given }).filter(
    (entry): entry is [string, number] => entry[1] !== "default",
  );
  return Object.fromEntries(all);
}
