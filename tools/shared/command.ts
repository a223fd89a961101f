import { messageOf } from "../../src/text/index.ts";
import { nameOnCommandLine, type Options, readArguments, UsageError, type Values } from "./options.ts";
import { isStopping } from "./processes.ts";
import { CommandError } from "./run-command.ts";

/** A command of scripts/, or a part of one. Its usage and its options come from this declaration. */
export interface CommandDeclaration<O extends Options> {
  /** As it is typed: `scripts/bench rows`. */
  readonly name: string;
  /** Sentences for the usage. The first one starts with a verb in the third person. */
  readonly about: string;
  readonly options: O;
  /** Name of the arguments that are not options in the usage, e.g. `NAME`. None by default. */
  readonly names?: string;
  /** Further lines of the usage, each a name with its description. */
  readonly list?: { readonly title: string; readonly lines: readonly Line[] };
  /** @throws {UsageError} when options contradict each other @throws {CommandError} when the command cannot continue */
  readonly run: (values: Values<O>, names: readonly string[]) => Promise<void>;
}

type Line = readonly [name: string, does: string];

/** A command whose arguments are still texts. */
export interface Command {
  readonly name: string;
  readonly usage: (list?: CommandDeclaration<Options>["list"]) => string;
  /** Parses the arguments and runs the command. */
  readonly run: (args: readonly string[]) => Promise<void>;
}

export function defineCommand<const O extends Options>(declared: CommandDeclaration<O>): Command {
  return {
    name: declared.name,
    usage: (list = declared.list) => usageOf(declared, list),
    async run(args) {
      const { values, names } = readArguments(args, declared.options, declared.names !== undefined);
      await declared.run(values, names);
    },
  };
}

/** Columns of a terminal that the usage fills. */
const WIDTH = 120;

function usageOf<O extends Options>(
  { name, about, options, names }: CommandDeclaration<O>,
  list: CommandDeclaration<O>["list"],
): string {
  const call = [name, "[OPTION…]", ...(names === undefined ? [] : [`[${names}…]`])].join(" ");
  const lines = Object.entries(options).map(([key, { placeholder, does }]): Line => {
    return [[nameOnCommandLine(key), ...(placeholder === null ? [] : [placeholder])].join(" "), does];
  });
  const help: Line = ["--help, -h", "print this text"];
  const more = list === undefined ? [] : ["", list.title, ...inColumns(list.lines)];
  return [call, "", Bun.wrapAnsi(about, WIDTH), "", ...inColumns([...lines, help]), ...more].join("\n");
}

function inColumns(lines: readonly Line[]): string[] {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, does]) => {
    const [first, ...rest] = Bun.wrapAnsi(does, WIDTH - width - 4).split("\n");
    return [`  ${name.padEnd(width)}  ${first}`, ...rest.map((line) => " ".repeat(width + 4) + line)].join("\n");
  });
}

/** A part of a command: its description, and its module, which is loaded only when it runs. */
export type Part = readonly [does: string, load: () => Promise<{ readonly command: Command }>];

/**
 * Runs a command of scripts/, or the part of it that the first argument names. Prints errors of the command line (exit
 * code 2) and failures of commands (1) in one line, and other errors with their stack.
 */
export async function runWithParts(
  whole: () => Promise<{ readonly command: Command }>,
  parts: Readonly<Record<string, Part>>,
  args: readonly string[],
): Promise<void> {
  const part = parts[args[0] ?? ""];
  const { command } = await (part === undefined ? whole() : part[1]());
  const lines = Object.entries(parts).map(([name, [does]]): Line => [`${command.name} ${name}`, does]);
  const list = part === undefined && lines.length > 0 ? { title: "Parts, each with --help:", lines } : undefined;
  await runCommandLine(command, part === undefined ? args : args.slice(1), list);
}

/** Runs a command without parts, like `runWithParts`. @param list further lines of the usage */
export async function runCommandLine(
  command: Command,
  args: readonly string[],
  list?: CommandDeclaration<Options>["list"],
): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(command.usage(list));
    return;
  }
  try {
    await command.run(args);
  } catch (error) {
    // The signal has killed what the command waited for: the process exits after the cleanups.
    if (isStopping()) await new Promise<never>(() => {});
    if (!(error instanceof UsageError || error instanceof CommandError)) throw error;
    const advice = error instanceof UsageError ? `; ${command.name} --help lists the options` : "";
    const program = command.name.replace(/^scripts\/(\S+).*$/, "$1");
    console.error(`${program}: ${messageOf(error)}${advice}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
