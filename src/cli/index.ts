import { Command, CommanderError } from "commander";
import { AccountsError } from "../accounts/index.ts";
import { StartError } from "../appliance/index.ts";
import { SettingsError } from "../config/index.ts";
import { programVersion } from "../program/index.ts";
import { DataDirectoryInUseError, MigrationError } from "../storage/index.ts";
import { accountsCommand } from "./admin/accounts.ts";
import { auditCommand } from "./admin/audit.ts";
import { keysCommand } from "./admin/keys.ts";
import { recordingsCommand } from "./admin/recordings.ts";
import { workspacesCommand } from "./admin/workspaces.ts";
import { ClientError } from "./client/client.ts";
import { submitCommand } from "./client/submit.ts";
import { CommandError } from "./command-error.ts";
import { quickstartCommand } from "./quickstart.ts";
import { serveCommand } from "./serve.ts";

const exitCodes = `
Exit codes: 0 done; 1 it could not be done, the message says why; 2 the command line or the settings are wrong.`;

/**
 * Runs one command line.
 * @param args without the program's name
 * @returns the exit code
 */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = new Command("transcribe")
    .description("Speaker-labelled transcripts on your own machine.")
    .version(programVersion)
    .addHelpText("after", exitCodes)
    .showHelpAfterError("(transcribe --help lists the commands)")
    .exitOverride();
  const commands = [
    serveCommand(),
    accountsCommand(),
    workspacesCommand(),
    keysCommand(),
    recordingsCommand(),
    auditCommand(),
    submitCommand(),
    quickstartCommand(),
  ];
  for (const command of commands) program.addCommand(exitOverrideAll(command));
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isExpected(error)) throw error;
    process.stderr.write(`transcribe: ${error.message}\n`);
    return error instanceof SettingsError ? 2 : 1;
  }
}

/** commander ends the process itself unless told not to, command by command. */
function exitOverrideAll(command: Command): Command {
  for (const child of command.commands) exitOverrideAll(child);
  return command.exitOverride();
}

const expectedErrors = [
  AccountsError,
  ClientError,
  CommandError,
  DataDirectoryInUseError,
  MigrationError,
  SettingsError,
  StartError,
] as const;

function isExpected(error: unknown): error is Error {
  return expectedErrors.some((kind) => error instanceof kind);
}
