import { Command } from "commander";
import { findRunningServer, originOf } from "../../api-contract/index.ts";
import { consolePath, createLink, removePassword, setPassword, signOutEverywhere } from "../../console/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { MIN_PASSWORD_LENGTH } from "../../users/index.ts";
import { date, type JsonOption, print } from "../output.ts";
import { serverAddress } from "../parse-option.ts";
import { readPassword } from "../read-password.ts";
import { addSettingsOptions, dataSettingsOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

/** transcribe console [link]|password|sign-out */
export function consoleCommand(): Command {
  return new Command("console")
    .description(
      "Manage the operators' access to the console, the web page of the server: sign-in link, password, sessions.",
    )
    .addCommand(linkCommand(), { isDefault: true })
    .addCommand(passwordCommand())
    .addCommand(signOutCommand());
}

function linkCommand(): Command {
  return settingsCommand(
    "link",
    "Print a link that signs in to the console once, within ten minutes (the default command).",
  )
    .option(
      "--server <url>",
      "the server's address for your browser, e.g. https://transcribe.example.org",
      serverAddress,
    )
    .action(printLink);
}

async function printLink(options: JsonOption & { server?: string }, command: Command): Promise<void> {
  const settings = dataSettingsOf(command);
  const directory = new DataDirectory(settings.storage.data_dir);
  const { server: origin = null } = options;
  const running = await findRunningServer(directory);
  const { token, expiresAt } = createLink(openStoreIn(directory), auditor());
  const link = `${origin ?? running?.origin ?? originOf(settings.server)}${consolePath}/#enter=${token}`;
  const notes = [
    ...(settings.console.enabled ? [] : ["the console is off; set console.enabled and reload the server"]),
    ...(running === null ? ["no server is running; start it before the link expires"] : []),
    ...(origin === null ? ["the link works on this machine; for others, give the server's address: --server URL"] : []),
  ];
  for (const note of notes) process.stderr.write(`${note}\n`);
  print(options, { link, expires_at: date(expiresAt) }, () => link);
}

function passwordCommand(): Command {
  return addSettingsOptions(new Command("password"), ["storage.data_dir"])
    .description(
      `Set the operator's password for the console, read from the terminal or from standard input, at least ${MIN_PASSWORD_LENGTH} characters. This signs out all sessions that used the old one.`,
    )
    .option("--remove", "remove the password; only links sign in then")
    .action(async (options: { remove?: boolean }, command: Command) => {
      const { console: its, storage } = dataSettingsOf(command);
      const store = openStoreIn(new DataDirectory(storage.data_dir));
      if (options.remove === true) {
        process.stdout.write(
          removePassword(store, auditor()) ? "the password is removed\n" : "there was no password\n",
        );
        return;
      }
      await setPassword(store, await readPassword(), auditor());
      process.stdout.write("the password is set\n");
      if (!its.operator_password) process.stderr.write("it does not sign in: console.operator_password is false\n");
      else if (!its.enabled) process.stderr.write("the console is off; set console.enabled and reload the server\n");
    });
}

function signOutCommand(): Command {
  return settingsCommand("sign-out", "End all sessions of the console and all links that were not used yet.").action(
    (options: JsonOption, command: Command) => {
      const sessions = signOutEverywhere(openStoreOf(command), auditor());
      print(options, { sessions }, () => `${count(sessions, "session")} ended`);
    },
  );
}
