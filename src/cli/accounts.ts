import { Command } from "commander";
import { type Account, createAccount, listAccounts } from "../accounts/index.ts";
import { date, print, table } from "./output.ts";
import { addSettingsOptions, openStoreOf } from "./settings-options.ts";

/** transcribe accounts create|list */
export function accountsCommand(): Command {
  const create = addSettingsOptions(new Command("create"), ["storage.data_dir"])
    .description("Make an account. Its recordings are seen with its keys alone.")
    .argument("<name>", "1 to 64 letters, digits, '.', '_' or '-'")
    .option("--json", "print the account as JSON")
    .action((name: string, options: { json?: boolean }, command: Command) => {
      const account = createAccount(openStoreOf(command), name, Date.now());
      print(
        options.json === true,
        toJson(account),
        () => `account ${account.name} made; next: transcribe keys create --account ${account.name}`,
      );
    });
  const list = addSettingsOptions(new Command("list"), ["storage.data_dir"])
    .description("List the accounts.")
    .option("--json", "print them as JSON")
    .action((options: { json?: boolean }, command: Command) => {
      const accounts = listAccounts(openStoreOf(command));
      print(options.json === true, accounts.map(toJson), () =>
        table(
          ["NAME", "ID", "CREATED"],
          accounts.map((account) => [account.name, account.id, date(account.createdAt)]),
        ),
      );
    });
  return new Command("accounts").description("Who may use the API.").addCommand(create).addCommand(list);
}

function toJson(account: Account) {
  return { id: account.id, name: account.name, created_at: date(account.createdAt) };
}
