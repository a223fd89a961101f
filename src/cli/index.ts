import { Command, CommanderError } from "commander";
import { AccountsError } from "../accounts/index.ts";
import { SettingsError } from "../config/index.ts";
import { ServiceError } from "../install/index.ts";
import { ModelError } from "../models/index.ts";
import { programVersion, UnpackError } from "../program/index.ts";
import { StartError } from "../server/index.ts";
import { BackupError, DataDirectoryError, databaseTrouble, MigrationError } from "../storage/index.ts";
import { licensesCommand, versionCommand } from "./about.ts";
import { accountsCommand } from "./admin/accounts.ts";
import { auditCommand } from "./admin/audit.ts";
import { consoleCommand } from "./admin/console.ts";
import { keysCommand } from "./admin/keys.ts";
import { recordingsCommand } from "./admin/recordings.ts";
import { workspacesCommand } from "./admin/workspaces.ts";
import { backupCommand, restoreCommand } from "./backup.ts";
import { benchCommand } from "./bench.ts";
import { deleteCommand, exportCommand, getCommand, listCommand } from "./client/recordings.ts";
import { submitCommand } from "./client/submit.ts";
import { watchCommand } from "./client/watch.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { completionCommand } from "./completion/index.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor.ts";
import { fleetCommand } from "./fleet.ts";
import { InterruptedError } from "./interrupts.ts";
import { modelsCommand } from "./models/index.ts";
import { watchOutput } from "./output.ts";
import { printableText } from "./printable.ts";
import { quickstartCommand } from "./quickstart.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { serviceCommand } from "./service.ts";
import { verifyCommand } from "./verify.ts";
import { workerCommand } from "./worker.ts";

const exitCodesHelp = `
Exit codes: 0 success; 1 failure, explained by the message; 2 the command line or the settings are wrong;
3 a recording failed; 4 no server answers; 5 the key is missing, invalid or lacks the permission; 130 interrupted.`;

/** Returns all commands by their headings in the help. */
function commandGroups(): Record<string, Command[]> {
  return {
    "Server:": [
      serveCommand(),
      workerCommand(),
      fleetCommand(),
      serviceCommand(),
      quickstartCommand(),
      configCommand(),
    ],
    "Client:": [submitCommand(), watchCommand(), listCommand(), getCommand(), exportCommand(), deleteCommand()],
    "Without a server:": [runCommand()],
    "Models:": [modelsCommand()],
    "Accounts:": [accountsCommand(), workspacesCommand(), keysCommand()],
    "Operation:": [recordingsCommand(), consoleCommand(), auditCommand()],
    "Database:": [backupCommand(), restoreCommand()],
    "Diagnosis:": [doctorCommand(), benchCommand(), verifyCommand()],
    "About:": [completionCommand(), versionCommand(), licensesCommand()],
  };
}

/** Creates the program with all its commands. docs/cli.md is generated from it, too. */
export function cliProgram(): Command {
  const program = new Command("transcribe")
    .description("Speaker-labelled transcripts on your own machine.")
    .version(programVersion)
    .addHelpText("after", exitCodesHelp)
    .showHelpAfterError("(transcribe --help lists the commands)")
    .exitOverride();
  for (const [group, commands] of Object.entries(commandGroups())) {
    for (const command of commands) program.addCommand(exitOverrideAll(command).helpGroup(group));
  }
  return program;
}

/**
 * Runs one command line.
 * @param args without the program's name
 * @returns the exit code
 */
export async function runCli(args: readonly string[]): Promise<number> {
  watchOutput();
  excludeLoopbackFromProxies(process.env);
  const program = cliProgram();
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const fault = databaseTrouble(error);
    if (fault !== null) {
      process.stderr.write(`transcribe: can't use the database (${fault}); see: transcribe doctor\n`);
      return exitCodes.failed;
    }
    if (!isExpected(error)) throw error;
    // The message may contain the name of a file, a database or a server, which may have control characters.
    if (error.message !== "") process.stderr.write(`transcribe: ${printableText(error.message)}\n`);
    if (error instanceof InterruptedError) await leave(error.exitCode);
    return exitCodeOf(error);
  }
}

/** Exits the process once its output is written, without waiting for pending work. */
async function leave(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}

const loopback = ["localhost", "127.0.0.1", "::1", "[::1]"];

/**
 * Excludes this machine's loopback addresses from proxies, because a proxy can't reach them. Sets both spellings,
 * because the lower-case variable wins if both exist.
 */
function excludeLoopbackFromProxies(environment: NodeJS.ProcessEnv): void {
  const given = environment.no_proxy ?? environment.NO_PROXY;
  const value = [...(given ? [given] : []), ...loopback].join(",");
  environment.NO_PROXY = value;
  environment.no_proxy = value;
}

/** Prevents commander from exiting the process; this must be set for each command. */
function exitOverrideAll(command: Command): Command {
  for (const child of command.commands) exitOverrideAll(child);
  return command.exitOverride();
}

const expectedErrors = [
  AccountsError,
  BackupError,
  CommandError,
  DataDirectoryError,
  InterruptedError,
  MigrationError,
  ModelError,
  ServiceError,
  SettingsError,
  StartError,
  UnpackError,
] as const;

function isExpected(error: unknown): error is Error {
  return expectedErrors.some((kind) => error instanceof kind);
}

function exitCodeOf(error: Error): number {
  if (error instanceof SettingsError) return exitCodes.usage;
  if (error instanceof CommandError || error instanceof InterruptedError) return error.exitCode;
  return exitCodes.failed;
}
