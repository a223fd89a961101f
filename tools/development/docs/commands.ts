import type { Command, Option } from "commander";
import { cliProgram } from "../../../src/cli/index.ts";

const program = await cliProgram();

/** A command as the generated pages describe it. */
export interface CommandHelp {
  /** The command's name with the names of its parents: `keys create`. */
  readonly name: string;
  readonly description: string;
  /** Arguments and options, each with its meaning. */
  readonly rows: readonly (readonly [name: string, meaning: string])[];
}

export const exitCodeMeanings = [
  [0, "success"],
  [1, "failure; the message gives the reason and what to do"],
  [2, "the command line or the settings are invalid; nothing was done"],
  [3, "a recording failed"],
  [4, "no server answers"],
  [5, "the key is missing or has no permission for this"],
  [130, "interrupted"],
] as const;

/** Returns every command of the program, in the order and under the headings of its help. */
export function commandGroups(): { heading: string; commands: CommandHelp[] }[] {
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  return [...groups].map(([heading, commands]) => ({
    heading: heading.replace(/:$/, ""),
    commands: commands.flatMap((command) => leavesOf(command, command.name())),
  }));
}

function leavesOf(command: Command, name: string): CommandHelp[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => leavesOf(child, `${name} ${child.name()}`));
  }
  const operands = command.registeredArguments.map(
    (each) =>
      [
        `${each.required ? "<" : "["}${each.name()}${each.variadic ? "..." : ""}${each.required ? ">" : "]"}`,
        each.description,
      ] as const,
  );
  const options = command.options.filter(({ hidden }) => !hidden).map((each) => [each.flags, meaningOf(each)] as const);
  return [{ name, description: command.description(), rows: [...operands, ...options] }];
}

function meaningOf({ description, defaultValue, mandatory }: Option): string {
  if (mandatory) return `${description} (required)`;
  const isDescribed = defaultValue === undefined || defaultValue === false || description.includes("(default");
  return isDescribed ? description : `${description} (default: ${defaultValue})`;
}
