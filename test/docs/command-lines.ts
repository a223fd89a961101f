import type { Command } from "commander";
import { cliProgram } from "../../src/cli/index.ts";
import { blocksOf, type Page, proseOf } from "./pages.ts";

/** A call of the program in a page. */
export interface CommandLine {
  /** The words after the program's name. */
  readonly words: readonly string[];
  /** Whether it is named in a sentence, where required arguments may be omitted. */
  readonly isMention: boolean;
}

const program = await cliProgram();
const programName = /^(?:\S*\/)?transcribe(?:-linux-(?:x64|arm64))?$/;

/** Returns the calls in a page's shell blocks and in its sentences. */
export function commandLinesOf(page: Page): CommandLine[] {
  const shell = blocksOf(page).filter(({ language }) => language === "sh");
  const lines = shell.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, " ").split("\n"));
  const shown = lines.flatMap((line) => callsIn(line).map((words) => ({ words, isMention: false })));
  const spans = [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
  const mentioned = spans.flatMap((span) => callsIn(span).map((words) => ({ words, isMention: true })));
  return [...shown, ...mentioned.filter(({ words }) => words.length > 0)];
}

/** Returns the words after the program's name in each command of a line, up to a pipe, a bracket or a comment. */
function callsIn(line: string): string[][] {
  const withoutComment = line.replace(/(^|\s)#.*/, "");
  return withoutComment.split(/\$\(|[|;()]|&&/).flatMap((command) => {
    const words = (command.replace(/\s\d?[<>]+\s*[^\s&]+/g, "").match(/"[^"]*"|'[^']*'|\S+/g) ?? []).filter(
      (word) => !/^\d?[<>]/.test(word),
    );
    while (/^(sudo|exec|time|-u|[A-Z_]+=.*)$/.test(words[0] ?? "")) words.splice(0, words[0] === "-u" ? 2 : 1);
    return programName.test(words[0] ?? "") ? [words.slice(1)] : [];
  });
}

/** Returns the default subcommand of a command, such as `link` of `console`. commander has no public property for it. */
function withoutName(command: Command): Command {
  const name = "_defaultCommandName" in command ? command._defaultCommandName : null;
  return command.commands.find((child) => child.name() === name) ?? command;
}

/** Returns the fault of a call according to the program's declarations; null if there is none. */
export function faultOf({ words, isMention }: CommandLine): string | null {
  let command: Command = program;
  let values = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!command.commands.some((child) => child.name() === word)) command = withoutName(command);
    if (word.startsWith("-") && word !== "-") {
      const [name = word, attached] = word.split("=");
      if (name === "--help" || name === "--version") continue;
      const option = command.options.find((candidate) => candidate.long === name || candidate.short === name);
      if (option === undefined) return `"${command.name()}" has no option ${name}`;
      if (option.required && attached === undefined && ++index >= words.length) return `${name} needs a value`;
      if (option.optional && attached === undefined && !(words[index + 1] ?? "-").startsWith("-")) index++;
      while (option.variadic && !(words[index + 1] ?? "-").startsWith("-")) index++;
      continue;
    }
    const child = values === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
    if (child !== undefined) command = child;
    else if (command.commands.length > 0) return `"${command.name()}" has no command ${word}`;
    else values++;
  }
  command = withoutName(command);
  const declared = command.registeredArguments;
  if (!declared.some(({ variadic }) => variadic) && values > declared.length) return `"${command.name()}" takes less`;
  if (!isMention && values < declared.filter(({ required }) => required).length)
    return `"${command.name()}" needs more`;
  if (!isMention && command.commands.length > 0 && words.length > 0 && !words.some((word) => word.startsWith("--")))
    return `"${command.name()}" needs a command`;
  return null;
}
