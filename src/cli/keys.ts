import { Command } from "commander";
import { type ApiKey, createKey, listKeys, requireAccount, revokeKey } from "../accounts/index.ts";
import { date, print, table } from "./output.ts";
import { addSettingsOptions, openStoreOf } from "./settings-options.ts";

/** transcribe keys create|list|revoke */
export function keysCommand(): Command {
  return new Command("keys")
    .description("Keys of the API; a key is shown once, when it is made.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return addSettingsOptions(new Command("create"), ["storage.data_dir"])
    .description("Make a key for an account and print it, this once.")
    .requiredOption("--account <name>", "the account's name or id")
    .option("--name <text>", "what the key is for", "default")
    .option("--json", "print id and key as JSON")
    .action((options: { account: string; name: string; json?: boolean }, command: Command) => {
      const store = openStoreOf(command);
      const { key, secret } = createKey(store, requireAccount(store, options.account), options.name, Date.now());
      print(options.json === true, { ...toJson(key), key: secret }, () => secret);
    });
}

function listCommand(): Command {
  return addSettingsOptions(new Command("list"), ["storage.data_dir"])
    .description("List keys, without their secrets.")
    .option("--account <name>", "only this account's")
    .option("--json", "print them as JSON")
    .action((options: { account?: string; json?: boolean }, command: Command) => {
      const store = openStoreOf(command);
      const keys = listKeys(store, options.account === undefined ? null : requireAccount(store, options.account));
      print(options.json === true, keys.map(toJson), () =>
        table(
          ["ID", "KEY", "NAME", "CREATED", "REVOKED"],
          keys.map((key) => [key.id, `${key.hint}…`, key.name, date(key.createdAt), date(key.revokedAt)]),
        ),
      );
    });
}

function revokeCommand(): Command {
  return addSettingsOptions(new Command("revoke"), ["storage.data_dir"])
    .description("Take a key out of use, from the next request on.")
    .argument("<id>", "the key's id")
    .option("--json", "print the key as JSON")
    .action((id: string, options: { json?: boolean }, command: Command) => {
      const key = revokeKey(openStoreOf(command), id, Date.now());
      print(options.json === true, toJson(key), () => `key ${key.id} is revoked`);
    });
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    hint: key.hint,
    created_at: date(key.createdAt),
    revoked_at: key.revokedAt === null ? null : date(key.revokedAt),
  };
}
