import type { Command, Option } from "commander";
import { cliProgram } from "../../../src/cli/index.ts";

const introduction = `# The command line

Made from the program by \`scripts/docs\`; \`--help\` behind any command says the same.`;

const exitCodes = `## Exit codes

| | |
|---|---|
| 0 | done |
| 1 | it could not be done; the message says why and what to do |
| 2 | the command line or the settings are wrong |
| 3 | a recording ended as failed |
| 4 | no server answers |
| 5 | the key is missing or may not do this |
| 130 | interrupted |`;

/** docs/cli.md: every command with its arguments and options, in the order and under the headings of the help. */
export function cliPage(): string {
  const program = cliProgram();
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  const sections = [...groups].map(([heading, commands]) => {
    const leaves = commands.flatMap((command) => leavesOf(command, command.name()));
    return [`## ${heading.replace(/:$/, "")}`, ...leaves.map(commandText)].join("\n\n");
  });
  return `${[introduction, ...sections, exitCodes].join("\n\n")}\n`;
}

interface Leaf {
  /** Its name behind those of its parents: `keys create`. */
  readonly name: string;
  readonly command: Command;
}

function leavesOf(command: Command, name: string): Leaf[] {
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((child) => leavesOf(child, `${name} ${child.name()}`));
}

function commandText({ name, command }: Leaf): string {
  const operands = command.registeredArguments.map((each): [string, string] => [
    `${each.required ? "<" : "["}${each.name()}${each.variadic ? "..." : ""}${each.required ? ">" : "]"}`,
    each.description,
  ]);
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((each): [string, string] => [each.flags, meaningOf(each)]);
  const rows = [...operands, ...options].map(([what, meaning]) => `| \`${cell(what)}\` | ${cell(meaning)} |`);
  const table = rows.length === 0 ? [] : [["| | |", "|---|---|", ...rows].join("\n")];
  return [`### transcribe ${name}`, command.description(), ...table].join("\n\n");
}

function meaningOf({ description, defaultValue, mandatory }: Option): string {
  if (mandatory) return `${description} (required)`;
  const isTold = defaultValue === undefined || defaultValue === false || description.includes("(default");
  return isTold ? description : `${description} (default: ${defaultValue})`;
}

/** Fit for a cell of a table; what looks like markup is not. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
