import type { Command } from "commander";
import { cliProgram } from "../../src/cli/index.ts";
import { blocksOf, type Page, proseOf } from "./pages.ts";

/** A call of the program as a page shows it. */
export interface CommandLine {
  /** What follows the program's name. */
  readonly words: readonly string[];
  /** Named in a sentence, where what it needs may be left out. */
  readonly isMention: boolean;
}

const programName = /^(?:\S*\/)?transcribe(?:-linux-(?:x64|arm64))?$/;

/** The calls in a page's shell blocks, and those named in its sentences. */
export function commandLinesOf(page: Page): CommandLine[] {
  const shell = blocksOf(page).filter(({ language }) => language === "sh");
  const lines = shell.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, " ").split("\n"));
  const shown = lines.flatMap((line) => callsIn(line).map((words) => ({ words, isMention: false })));
  const spans = [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
  const mentioned = spans.flatMap((span) => callsIn(span).map((words) => ({ words, isMention: true })));
  return [...shown, ...mentioned.filter(({ words }) => words.length > 0)];
}

/** Words behind the program's name in each of a line's commands: up to a pipe, a bracket or a comment. */
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

/** The command that one stands for when none of its own is named, as `console` does for its `link`; commander doesn't tell. */
function withoutName(command: Command): Command {
  const name = "_defaultCommandName" in command ? command._defaultCommandName : null;
  return command.commands.find((child) => child.name() === name) ?? command;
}

/** What is wrong with a call, by the program's own declarations; null when nothing is. */
export function faultOf({ words, isMention }: CommandLine): string | null {
  let command: Command = cliProgram();
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
