import { Kind, type TSchema } from "@sinclair/typebox";
import type { Command, Option } from "commander";
import { settingEntries } from "../../config/index.ts";
import { scopes } from "../../keys/index.ts";
import { statusSchema } from "../../recordings/index.ts";

/** Possible values of an option or argument: file names, one of a list, or any text, which can't be completed. */
export type Values = "files" | "anything" | readonly string[];

/** An option as a shell completes it. */
interface PlaceOption {
  /** e.g. `-o`, `--output` */
  readonly names: readonly string[];
  readonly description: string;
  /** Possible values; null for an option without a value. */
  readonly values: Values | null;
}

/** A position on the command line after a command's name, and the words that may follow. */
export interface Place {
  /** The command's words, each after a space, e.g. ` keys create`; empty for the program itself. */
  readonly at: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly PlaceOption[];
  /** Possible values of the arguments; null if there are none. */
  readonly argument: Values | null;
}

/** Possible values by the placeholder in a command's declaration. */
const meanings: Readonly<Record<string, Values>> = {
  file: "files",
  path: "files",
  directory: "files",
  recording: "files",
  statuses: statusSchema.anyOf.map((choice) => choice.const),
  scopes,
  setting: settingEntries.map(({ path }) => path),
};

/** Returns all places of a program's command line, derived from its declarations. */
export function completionPlaces(program: Command, at = ""): Place[] {
  const { commands } = program;
  const [argument] = program.registeredArguments;
  const place: Place = {
    at,
    commands: commands.map((command) => ({ name: command.name(), description: firstSentence(command.description()) })),
    options: [...program.options.map(toOption), help],
    argument: argument === undefined ? null : (argument.argChoices ?? meanings[argument.name()] ?? "anything"),
  };
  return [place, ...commands.flatMap((command) => completionPlaces(command, `${at} ${command.name()}`))];
}

const help: PlaceOption = { names: ["-h", "--help"], description: "display help for command", values: null };

function toOption(option: Option): PlaceOption {
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: firstSentence(option.description),
    values: option.required || option.optional ? optionValues(option) : null,
  };
}

function optionValues(option: Option): Values {
  if (option.argChoices !== undefined) return option.argChoices;
  const entry = settingEntries.find(({ flag }) => flag !== null && flag === option.long);
  if (entry !== undefined) return entry.path.endsWith("_dir") ? "files" : choicesOf(entry.schema);
  const placeholder = /[<[]([a-z-]+)/.exec(option.flags)?.[1] ?? "";
  return meanings[placeholder] ?? "anything";
}

function choicesOf(schema: TSchema): Values {
  if (schema[Kind] !== "Union") return "anything";
  return (schema.anyOf as TSchema[]).map((choice) => String(choice.const));
}

/** Shortens a description to one line of a menu. */
function firstSentence(text: string): string {
  return (/^[^.;(]+/.exec(text)?.[0] ?? "").trim();
}
