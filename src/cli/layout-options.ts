import { Value } from "@sinclair/typebox/value";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ExportFormat, type ExportLayout, exportLayoutSchema, uselessChoices } from "../exports/index.ts";
import { UsageError } from "./command-error.ts";
import { wholeNumber } from "./parse-option.ts";

/** Options for the form of a transcript. */
export interface LayoutOptions {
  readonly width?: number;
  readonly lines?: number;
  readonly words?: number;
  readonly media?: string;
}

const { width, lines, words, media } = exportLayoutSchema.properties;

/** Adds the options for the size of subtitles and the name of the recording. */
export function addLayoutOptions(command: Command): Command {
  return command
    .option("--width <columns>", "maximum width of a line of subtitles (default: 42)", numberIn(width))
    .option("--lines <number>", "maximum lines of a subtitle, 1 or 2 (default: 2)", numberIn(lines))
    .option("--words <number>", "maximum words of a subtitle (default: as many as fit)", numberIn(words))
    .option("--media <name>", "file name of the recording, which an annotation program opens (eaf, exb)", mediaName);
}

/** Returns an option for how speakers are written. @param flag its name, without dashes */
export function speakersOption(flag: "speakers" | "labels", styles: readonly string[]): Option {
  const text = "how speakers are written (default: letters, and nobody in srt and ttml)";
  return new Option(`--${flag} <style>`, text).choices(styles);
}

/**
 * Returns the layout in a command's options; undefined without any.
 * @param speakers the speakers' style, from the option named `flag`
 * @throws {UsageError} when an option has no effect on the format
 */
export function layoutOf(
  { width, lines, words, media }: LayoutOptions,
  format: ExportFormat,
  speakers: ExportLayout["speakers"],
  flag: "speakers" | "labels",
): ExportLayout | undefined {
  const given = Object.entries({ speakers, width, lines, words, media }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  const layout: ExportLayout = Object.fromEntries(given);
  const [useless] = uselessChoices(format, layout);
  if (useless === undefined) return layout;
  throw new UsageError(`--${useless === "speakers" ? flag : useless} has no effect on ${format}`);
}

function numberIn({ minimum = 1, maximum = 1 }: { readonly minimum?: number; readonly maximum?: number }) {
  return (text: string) => {
    const number = wholeNumber(text);
    if (number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`It takes a whole number from ${minimum} to ${maximum}.`);
  };
}

function mediaName(text: string): string {
  if (Value.Check(media, text)) return text;
  throw new InvalidArgumentError("It takes a file name without slashes and control characters.");
}
