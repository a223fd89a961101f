import { Command } from "commander";
import { checkName, requireAccount, requireWorkspace } from "../../accounts/index.ts";
import {
  type ApiKey,
  checkedKeyName,
  createKey,
  defaultScopes,
  listKeys,
  revokeKey,
  rotateKey,
  type Scope,
  scopes,
} from "../../keys/index.ts";
import { date, type JsonOption, optionalDate, print, printTable, readableTime } from "../output.ts";
import { checkedBy, duration, futureMoment, listOf, parsedBy, resourceId } from "../parse-option.ts";
import { openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

/** transcribe keys create|list|rotate|revoke */
export function keysCommand(): Command {
  return new Command("keys")
    .description("Manage the API keys. A key is shown only once, when it is created.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand());
}

interface CreateOptions extends JsonOption {
  readonly account: string;
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly workspace?: string;
  readonly expires?: number;
}

function createCommand(): Command {
  return settingsCommand("create", "Create a key for an account and print it, only this once.")
    .requiredOption("--account <name>", "the account's name or id", checkedBy(checkName))
    .option("--name <text>", "what the key is for", parsedBy(checkedKeyName), "default")
    .option(
      "--scopes <scopes>",
      `its permissions, separated by commas: ${scopes.join(", ")} (default: ${defaultScopes.join(",")})`,
      listOf(scopes),
    )
    .option("--workspace <name>", "pin it to a workspace of the account", checkedBy(checkName))
    .option("--expires <end>", "when it expires: 2026-12-31 or 90d (default: never)", futureMoment)
    .action((options: CreateOptions, command: Command) => {
      const store = openStoreOf(command);
      const account = requireAccount(store, options.account);
      const by = auditor();
      const chosen: readonly Scope[] = options.scopes ?? defaultScopes;
      const values = {
        name: options.name,
        scopes: scopes.filter((scope) => chosen.includes(scope)),
        workspace: options.workspace === undefined ? null : requireWorkspace(store, account, options.workspace),
        expiresAt: options.expires ?? null,
      };
      const { key, secret } = createKey(store, account, values, by);
      print(options, { ...toJson(key), key: secret }, () => secret);
    });
}

function listCommand(): Command {
  return settingsCommand("list", "List keys, without their secrets.")
    .option("--account <name>", "only keys of this account", checkedBy(checkName))
    .action((options: JsonOption & { account?: string }, command: Command) => {
      const store = openStoreOf(command);
      const keys = listKeys(store, options.account === undefined ? null : requireAccount(store, options.account));
      printTable(options, keys, toJson, "no keys; create one with: transcribe keys create --account NAME", {
        ID: ({ id }) => id,
        KEY: ({ hint }) => `${hint}…`,
        NAME: ({ name }) => name,
        CREATED: ({ createdAt }) => readableTime(createdAt),
        "LAST USED": ({ lastUsedAt }) => readableTime(lastUsedAt),
        EXPIRES: ({ expiresAt }) => readableTime(expiresAt),
        REVOKED: ({ revokedAt }) => readableTime(revokedAt),
      });
    });
}

function rotateCommand(): Command {
  return settingsCommand("rotate", "Replace a key by a new one with the same permissions. The old key expires later.")
    .argument("<id>", "the old key's id", resourceId)
    .option(
      "--overlap <time>",
      "how long the old key stays valid: 30m, 12h, 7d (default: 24h)",
      duration,
      duration("24h"),
    )
    .action((id: string, options: JsonOption & { overlap: number }, command: Command) => {
      const { key, secret, old } = rotateKey(openStoreOf(command), id, options.overlap, auditor());
      process.stderr.write(`key ${old.id} is valid until ${readableTime(old.expiresAt)}\n`);
      print(options, { ...toJson(key), key: secret, replaces: toJson(old) }, () => secret);
    });
}

function revokeCommand(): Command {
  return settingsCommand("revoke", "Revoke a key, from the next request on.")
    .argument("<id>", "the key's id", resourceId)
    .action((id: string, options: JsonOption, command: Command) => {
      const key = revokeKey(openStoreOf(command), id, auditor());
      print(options, toJson(key), () => `revoked key ${key.id}`);
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
