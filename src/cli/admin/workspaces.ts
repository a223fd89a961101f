import { Command } from "commander";
import {
  checkName,
  createWorkspace,
  deleteWorkspace,
  listWorkspaces,
  requireAccount,
  requireWorkspace,
  type Workspace,
} from "../../accounts/index.ts";
import { date, type JsonOption, print, printTable, readableTime } from "../output.ts";
import { checkedBy } from "../parse-option.ts";
import { openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

interface WorkspaceOptions extends JsonOption {
  readonly account: string;
}

/** transcribe workspaces create|list|delete */
export function workspacesCommand(): Command {
  const create = subcommand("create", "Create a workspace. A key that is pinned to it accesses only its recordings.")
    .argument("<name>", "1 to 64 letters, digits, '.', '_' or '-'", checkedBy(checkName))
    .action((name: string, options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspace = createWorkspace(store, requireAccount(store, options.account), name, auditor());
      print(options, toJson(workspace), () => `created workspace ${workspace.name}`);
    });
  const list = subcommand("list", "List an account's workspaces.").action(
    (options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspaces = listWorkspaces(store, requireAccount(store, options.account));
      printTable(options, workspaces, toJson, "no workspaces", {
        NAME: ({ name }) => name,
        ID: ({ id }) => id,
        CREATED: ({ createdAt }) => readableTime(createdAt),
      });
    },
  );
  const remove = subcommand("delete", "Delete a workspace that has neither keys nor recordings.")
    .argument("<name>", "its name or id", checkedBy(checkName))
    .action((name: string, options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspace = requireWorkspace(store, requireAccount(store, options.account), name);
      deleteWorkspace(store, workspace, auditor());
      print(options, toJson(workspace), () => `deleted workspace ${workspace.name}`);
    });
  return new Command("workspaces")
    .description("Manage the workspaces of an account, to which keys can be pinned.")
    .addCommand(create)
    .addCommand(list)
    .addCommand(remove);
}

function subcommand(name: string, description: string): Command {
  return settingsCommand(name, description).requiredOption(
    "--account <name>",
    "the account's name or id",
    checkedBy(checkName),
  );
}

function toJson({ id, name, accountId, createdAt }: Workspace) {
  return { id, name, account_id: accountId, created_at: date(createdAt) };
}
