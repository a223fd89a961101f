import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { findRunningServer, originOf } from "../../api/index.ts";
import {
  consolePath,
  createLink,
  MIN_PASSWORD_LENGTH,
  removePassword,
  setPassword,
  signOutEverywhere,
} from "../../console/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { date, type JsonOption, print } from "../output.ts";
import { serverAddress } from "../parse-option.ts";
import { addSettingsOptions, dataSettingsOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

/** transcribe console [link]|password|sign-out */
export function consoleCommand(): Command {
  return new Command("console")
    .description("Manage the access to the console, the web page for operators: sign-in link, password, sessions.")
    .addCommand(linkCommand(), { isDefault: true })
    .addCommand(passwordCommand())
    .addCommand(signOutCommand());
}

function linkCommand(): Command {
  return settingsCommand(
    "link",
    "Print a link that signs in to the console once, within ten minutes (the default command).",
  )
    .option("--server <url>", "the server's address for your browser, e.g. https://transcribe.example.org")
    .action(printLink);
}

async function printLink(options: JsonOption & { server?: string }, command: Command): Promise<void> {
  const settings = dataSettingsOf(command);
  const directory = new DataDirectory(settings.storage.data_dir);
  const origin = options.server === undefined ? null : serverAddress(options.server);
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
      const store = openStoreOf(command);
      if (options.remove === true) {
        process.stdout.write(
          removePassword(store, auditor()) ? "the password is removed\n" : "there was no password\n",
        );
        return;
      }
      await setPassword(store, await readPassword(), auditor());
      process.stdout.write("the password is set\n");
    });
}

/** Maximum length of the input from which the password's line is taken if standard input is not a terminal. */
const MAX_INPUT_CHARACTERS = 4096;

/**
 * Reads a new password. On a terminal, asks twice without echo; otherwise reads the first line of standard input.
 * @throws {CommandError} when the two entries differ, or standard input has no password
 */
async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ""] = (await text(process.stdin)).slice(0, MAX_INPUT_CHARACTERS).split(/\r?\n/, 1);
    if (line === "") throw new CommandError("standard input has no password");
    return line;
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const ask = async (question: string) => {
    process.stderr.write(question);
    const answer = await terminal.question("");
    process.stderr.write("\n");
    return answer;
  };
  try {
    const password = await ask("New password: ");
    if (password !== (await ask("Repeat the password: "))) throw new CommandError("the two passwords differ");
    return password;
  } finally {
    terminal.close();
  }
}

function signOutCommand(): Command {
  return settingsCommand("sign-out", "End all sessions of the console and all links that were not used yet.").action(
    (options: JsonOption, command: Command) => {
      const sessions = signOutEverywhere(openStoreOf(command), auditor());
      print(options, { sessions }, () => `${count(sessions, "session")} ended`);
    },
  );
}
