import { Command } from "commander";
import {
  createWorkspace,
  deleteWorkspace,
  listWorkspaces,
  requireAccount,
  requireWorkspace,
  type Workspace,
} from "../../accounts/index.ts";
import { date, print, table } from "../output.ts";
import { addSettingsOptions, openStoreOf } from "../settings-options.ts";
import { auditor } from "./auditor.ts";

interface WorkspaceOptions {
  readonly account: string;
  readonly json?: boolean;
}

/** transcribe workspaces create|list|delete */
export function workspacesCommand(): Command {
  const create = subcommand("create", "Make a workspace; a key that is pinned to it sees its recordings alone.")
    .argument("<name>", "1 to 64 letters, digits, '.', '_' or '-'")
    .action((name: string, options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspace = createWorkspace(store, requireAccount(store, options.account), name, auditor());
      print(options.json === true, toJson(workspace), () => `workspace ${workspace.name} made`);
    });
  const list = subcommand("list", "List an account's workspaces.").action(
    (options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspaces = listWorkspaces(store, requireAccount(store, options.account));
      print(options.json === true, workspaces.map(toJson), () =>
        table(
          ["NAME", "ID", "CREATED"],
          workspaces.map(({ name, id, createdAt }) => [name, id, date(createdAt)]),
        ),
      );
    },
  );
  const remove = subcommand("delete", "Delete a workspace that has neither keys nor recordings.")
    .argument("<name>", "its name or id")
    .action((name: string, options: WorkspaceOptions, command: Command) => {
      const store = openStoreOf(command);
      const workspace = requireWorkspace(store, requireAccount(store, options.account), name);
      deleteWorkspace(store, workspace, auditor());
      print(options.json === true, toJson(workspace), () => `workspace ${workspace.name} deleted`);
    });
  return new Command("workspaces")
    .description("Parts of an account that keys can be pinned to.")
    .addCommand(create)
    .addCommand(list)
    .addCommand(remove);
}

function subcommand(name: string, description: string): Command {
  return addSettingsOptions(new Command(name), ["storage.data_dir"])
    .description(description)
    .requiredOption("--account <name>", "the account's name or id")
    .option("--json", "print the result as JSON");
}

function toJson({ id, name, accountId, createdAt }: Workspace) {
  return { id, name, account_id: accountId, created_at: date(createdAt) };
}
