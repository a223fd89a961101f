import { Command } from "commander";
import {
  consolePath,
  createLink,
  leastPasswordLength,
  PasswordError,
  removePassword,
  setPassword,
  signOutEverywhere,
} from "../../console/index.ts";
import { findRunningServer, originOf } from "../../server/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { date, print } from "../output.ts";
import { addSettingsOptions, dataSettingsOf, openStoreIn, openStoreOf } from "../settings-options.ts";
import { askPassword } from "./ask-password.ts";
import { auditor } from "./auditor.ts";

/** transcribe console [link]|password|sign-out */
export function consoleCommand(): Command {
  return new Command("console")
    .description("The console, the page for operators: a link into it, its password, and the end of its sessions.")
    .addCommand(linkCommand(), { isDefault: true })
    .addCommand(passwordCommand())
    .addCommand(signOutCommand());
}

function linkCommand(): Command {
  return addSettingsOptions(new Command("link"), ["storage.data_dir"])
    .description("Print a link into the console, which works for ten minutes, and once; what `console` alone does.")
    .option("--server <url>", "how your browser reaches the server, e.g. https://transcribe.example.org")
    .option("--json", "print the link as JSON")
    .action(printLink);
}

interface LinkOptions {
  readonly server?: string;
  readonly json?: boolean;
}

async function printLink(options: LinkOptions, command: Command): Promise<void> {
  const settings = dataSettingsOf(command);
  const directory = new DataDirectory(settings.storage.data_dir);
  const origin = options.server === undefined ? null : browserOrigin(options.server);
  const running = await findRunningServer(directory);
  const { token, expiresAt } = createLink(openStoreIn(directory), auditor());
  const link = `${origin ?? running?.origin ?? originOf(settings.server)}${consolePath}/#enter=${token}`;
  if (!settings.console.enabled) warn("the settings have no console; set console.enabled, and reload the server");
  if (running === null) warn("no server runs; start it before the link ends");
  if (origin === null) warn("the link is for a browser on this machine; name what others reach it by: --server URL");
  print(options.json === true, { link, expires_at: date(expiresAt) }, () => link);
}

function browserOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    // The message omits the URL, because it may contain a password.
    throw new CommandError("that is no server; write e.g. https://transcribe.example.org", exitCodes.usage);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}

function passwordCommand(): Command {
  return addSettingsOptions(new Command("password"), ["storage.data_dir"])
    .description(
      `Set the operator's password for the console, read from the terminal or from standard input: ${leastPasswordLength} characters at least. Who entered by the one before is signed out.`,
    )
    .option("--remove", "take it away: links alone lead in")
    .action(async (options: { remove?: boolean }, command: Command) => {
      const store = openStoreOf(command);
      if (options.remove === true) {
        process.stdout.write(
          removePassword(store, auditor()) ? "the password is removed\n" : "there was no password\n",
        );
        return;
      }
      try {
        await setPassword(store, await askPassword(), auditor());
      } catch (error) {
        if (error instanceof PasswordError) throw new CommandError(error.message);
        throw error;
      }
      process.stdout.write("the password is set\n");
    });
}

function signOutCommand(): Command {
  return addSettingsOptions(new Command("sign-out"), ["storage.data_dir"])
    .description("End every session of the console, and every link that was not used yet.")
    .option("--json", "print how many sessions there were as JSON")
    .action((options: { json?: boolean }, command: Command) => {
      const sessions = signOutEverywhere(openStoreOf(command), auditor());
      print(options.json === true, { sessions }, () => `${count(sessions, "session")} ended`);
    });
}
