import { Command, CommanderError } from "commander";
import { SettingsError } from "../config/index.ts";
import { databaseTrouble } from "../disk/index.ts";
import { programVersion } from "../program/index.ts";
import { InactiveDirectoryError } from "../storage/index.ts";
import { ExpectedError, editDistance } from "../text/index.ts";
import { decodedArguments, requireText } from "./byte-names.ts";
import { untilChangesConfirmed } from "./change-confirmation.ts";
import { CommandError, exitCodes, UsageError } from "./command-error.ts";
import { InterruptedError } from "./interrupts.ts";
import { watchOutput } from "./output.ts";
import { printableText } from "./printable.ts";

const exitCodesHelp = `
Exit codes: 0 success; 1 failure, explained by the message; 2 the command line or the settings are wrong;
3 a recording failed; 4 no server answers; 5 the key is missing, invalid or lacks the permission;
6 the data directory is a standby's, or another server has taken over; 130 interrupted.`;

/**
 * Creators of the commands by their names and their headings in the help. Each loads its own modules, because loading
 * those of all commands takes longer than most commands run.
 */
const commandGroups: Readonly<Record<string, Readonly<Record<string, () => Promise<Command>>>>> = {
  "Server:": {
    serve: async () => (await import("./serve.ts")).serveCommand(),
    worker: async () => (await import("./worker.ts")).workerCommand(),
    fleet: async () => (await import("./fleet.ts")).fleetCommand(),
    standby: async () => (await import("./standby.ts")).standbyCommand(),
    service: async () => (await import("./service.ts")).serviceCommand(),
    quickstart: async () => (await import("./quickstart.ts")).quickstartCommand(),
    config: async () => (await import("./config.ts")).configCommand(),
  },
  "Client:": {
    submit: async () => (await import("./client/submit.ts")).submitCommand(),
    live: async () => (await import("./client/live/live.ts")).liveCommand(),
    watch: async () => (await import("./client/watch.ts")).watchCommand(),
    list: async () => (await import("./client/recordings.ts")).listCommand(),
    get: async () => (await import("./client/recordings.ts")).getCommand(),
    export: async () => (await import("./client/recordings.ts")).exportCommand(),
    delete: async () => (await import("./client/recordings.ts")).deleteCommand(),
    cancel: async () => (await import("./client/editing.ts")).cancelCommand(),
    speakers: async () => (await import("./client/editing.ts")).speakersCommand(),
    tags: async () => (await import("./client/editing.ts")).tagsCommand(),
    search: async () => (await import("./client/editing.ts")).searchCommand(),
  },
  "Without a server:": { run: async () => (await import("./run.ts")).runCommand() },
  "Models:": { models: async () => (await import("./models/index.ts")).modelsCommand() },
  "Accounts:": {
    accounts: async () => (await import("./admin/accounts.ts")).accountsCommand(),
    workspaces: async () => (await import("./admin/workspaces.ts")).workspacesCommand(),
    users: async () => (await import("./admin/users.ts")).usersCommand(),
    keys: async () => (await import("./admin/keys.ts")).keysCommand(),
    replacements: async () => (await import("./admin/replacements.ts")).replacementsCommand(),
    webhooks: async () => (await import("./admin/webhooks.ts")).webhooksCommand(),
    voices: async () => (await import("./admin/voices.ts")).voicesCommand(),
  },
  "Operation:": {
    recordings: async () => (await import("./admin/recordings.ts")).recordingsCommand(),
    folders: async () => (await import("./admin/folders.ts")).foldersCommand(),
    console: async () => (await import("./admin/console.ts")).consoleCommand(),
    audit: async () => (await import("./admin/audit.ts")).auditCommand(),
  },
  "Database:": {
    backup: async () => (await import("./backup.ts")).backupCommand(),
    restore: async () => (await import("./backup.ts")).restoreCommand(),
    promote: async () => (await import("./promote.ts")).promoteCommand(),
  },
  "Diagnosis:": {
    doctor: async () => (await import("./doctor.ts")).doctorCommand(),
    bench: async () => (await import("./bench.ts")).benchCommand(),
    verify: async () => (await import("./verify.ts")).verifyCommand(),
  },
  "About:": {
    completion: async () => (await import("./completion/index.ts")).completionCommand(),
    version: async () => (await import("./about.ts")).versionCommand(),
    licenses: async () => (await import("./about.ts")).licensesCommand(),
  },
};

const commandNames = Object.values(commandGroups).flatMap(Object.keys);

/**
 * Creates the program. docs/cli.md is generated from it, too.
 * @param names the commands that it has; all when omitted
 * @param args the command line that it is to run, for messages
 */
export async function cliProgram(
  names: readonly string[] = commandNames,
  args: readonly string[] = [],
): Promise<Command> {
  const program = new Command("transcribe")
    .description("Speaker-labelled transcripts on your own machine.")
    .version(programVersion)
    .addHelpText("after", exitCodesHelp)
    .hook("preAction", (_program, command) => requireText(command));
  for (const [group, commands] of Object.entries(commandGroups)) {
    for (const name of Object.keys(commands).filter((each) => names.includes(each))) {
      const command = await commands[name]?.();
      if (command !== undefined) program.addCommand(command.helpGroup(group));
    }
  }
  reportErrors(program, "transcribe", args);
  return program;
}

/** Returns the commands that a command line needs: its own, or all for help, completion and a mistyped name. */
function neededFor([first = ""]: readonly string[]): readonly string[] {
  if (first === "--version" || first === "-V") return [];
  return commandNames.includes(first) && first !== "completion" ? [first] : commandNames;
}

/**
 * Runs one command line.
 * @param args without the program's name
 * @returns the exit code
 */
export async function runCli(args: readonly string[]): Promise<number> {
  watchOutput();
  excludeLoopbackFromProxies(process.env);
  return await runCommand(decodedArguments(args));
}

/** Runs one command line in a process that is set up. @returns the exit code */
export async function runCommand(args: readonly string[]): Promise<number> {
  const program = await cliProgram(neededFor(args), args);
  try {
    await program.parseAsync([...args], { from: "user" });
    await untilChangesConfirmed();
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    return reportFailure(error);
  }
}

/**
 * Prints the message of a command's error.
 * @returns the exit code
 * @throws the error itself when it is a fault of the program
 */
async function reportFailure(error: unknown): Promise<number> {
  const fault = databaseTrouble(error);
  if (fault !== null) {
    process.stderr.write(`transcribe: can't use the database (${fault}); see: transcribe doctor\n`);
    return exitCodes.failed;
  }
  if (!(error instanceof ExpectedError)) throw error;
  // The message may contain the name of a file, a database or a server, which may have control characters.
  if (error.message !== "") process.stderr.write(`transcribe: ${printableText(error.message)}\n`);
  if (error instanceof InterruptedError) await leave(error.exitCode);
  return exitCodeOf(error);
}

/** Exits the process once its output is written, without waiting for pending work. */
async function leave(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}

function exitCodeOf(error: ExpectedError): number {
  if (error instanceof UsageError || error instanceof SettingsError) return exitCodes.usage;
  if (error instanceof CommandError || error instanceof InterruptedError) return error.exitCode;
  if (error instanceof InactiveDirectoryError) return exitCodes.inactive;
  return exitCodes.failed;
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

/** Sets how a command and those below it report a wrong command line, which commander does not pass on to them. */
function reportErrors(command: Command, path: string, args: readonly string[]): void {
  for (const child of command.commands) reportErrors(child, `${path} ${child.name()}`, args);
  command
    .exitOverride()
    .showHelpAfterError(`(${path} --help ${command.commands.length > 0 ? "lists the commands" : "explains it"})`)
    // The words of a command line may come from the names of files, which may have control characters.
    .configureOutput({
      outputError: (text, write) => {
        const mistyped = text.startsWith("error: required option") ? mistypedOption(command, args) : "";
        write(printableText(`${text.replace(/^error: /, "transcribe: ")}${mistyped}`));
      },
    });
}

/** Returns a hint at a mistyped option: commander reports that a required option is missing, and not the mistake. */
function mistypedOption(command: Command, args: readonly string[]): string {
  const known = command.options.flatMap(({ long }) => long ?? []);
  const given = args.flatMap((word) => /^--[^=]+/.exec(word) ?? []);
  for (const word of given.filter((each) => !known.includes(each))) {
    const meant = known.find((each) => editDistance(each, word) <= 2);
    if (meant !== undefined) return `(unknown option '${word}'. Did you mean ${meant}?)\n`;
  }
  return "";
}
