import { Command } from "commander";
import {
  type ApiKey,
  createKey,
  listKeys,
  parseScopes,
  requireAccount,
  requireWorkspace,
  revokeKey,
  rotateKey,
  scopes,
} from "../../accounts/index.ts";
import { date, optionalDate, print, table } from "../output.ts";
import { parseDuration, parseMoment } from "../parse-time.ts";
import { addSettingsOptions, openStoreOf } from "../settings-options.ts";
import { auditor } from "./auditor.ts";

/** transcribe keys create|list|rotate|revoke */
export function keysCommand(): Command {
  return new Command("keys")
    .description("Keys of the API; a key is shown once, when it is made.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand());
}

interface CreateOptions {
  readonly account: string;
  readonly name: string;
  readonly scopes?: string;
  readonly workspace?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

function createCommand(): Command {
  return addSettingsOptions(new Command("create"), ["storage.data_dir"])
    .description("Make a key for an account and print it, this once.")
    .requiredOption("--account <name>", "the account's name or id")
    .option("--name <text>", "what the key is for", "default")
    .option("--scopes <scopes>", `what it may do, by comma (default: ${scopes.join(",")})`)
    .option("--workspace <name>", "pin it to a workspace of the account")
    .option("--expires <end>", "when it ends: 2026-12-31 or 90d (default: never)")
    .option("--json", "print id and key as JSON")
    .action((options: CreateOptions, command: Command) => {
      const store = openStoreOf(command);
      const account = requireAccount(store, options.account);
      const by = auditor();
      const values = {
        name: options.name,
        scopes: parseScopes(options.scopes?.split(",") ?? scopes),
        workspace: options.workspace === undefined ? null : requireWorkspace(store, account, options.workspace),
        expiresAt: options.expires === undefined ? null : parseMoment(options.expires, by.now),
      };
      const { key, secret } = createKey(store, account, values, by);
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
          ["ID", "KEY", "NAME", "CREATED", "LAST USED", "EXPIRES", "REVOKED"],
          keys.map((key) => [
            key.id,
            `${key.hint}…`,
            key.name,
            date(key.createdAt),
            date(key.lastUsedAt),
            date(key.expiresAt),
            date(key.revokedAt),
          ]),
        ),
      );
    });
}

function rotateCommand(): Command {
  return addSettingsOptions(new Command("rotate"), ["storage.data_dir"])
    .description("Make a new key with the same rights; the old one goes on for a while.")
    .argument("<id>", "the old key's id")
    .option("--overlap <time>", "how long the old key is still taken: 30m, 12h, 7d", "24h")
    .option("--json", "print the new key as JSON")
    .action((id: string, options: { overlap: string; json?: boolean }, command: Command) => {
      const { key, secret, old } = rotateKey(openStoreOf(command), id, parseDuration(options.overlap), auditor());
      process.stderr.write(`key ${old.id} is taken until ${date(old.expiresAt)}\n`);
      print(options.json === true, { ...toJson(key), key: secret, replaces: toJson(old) }, () => secret);
    });
}

function revokeCommand(): Command {
  return addSettingsOptions(new Command("revoke"), ["storage.data_dir"])
    .description("Take a key out of use, from the next request on.")
    .argument("<id>", "the key's id")
    .option("--json", "print the key as JSON")
    .action((id: string, options: { json?: boolean }, command: Command) => {
      const key = revokeKey(openStoreOf(command), id, auditor());
      print(options.json === true, toJson(key), () => `key ${key.id} is revoked`);
    });
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    created_at: date(key.createdAt),
    last_used_at: optionalDate(key.lastUsedAt),
    expires_at: optionalDate(key.expiresAt),
    revoked_at: optionalDate(key.revokedAt),
  };
}
