import type { Command } from "commander";
import { HintError, type Hints, type HintTexts, MAX_SPEAKERS, parseHints } from "../text/index.ts";
import { CommandError, exitCodes } from "./command-error.ts";

/** Facts about recordings that a command passes on. */
export interface RecordingOptions {
  readonly language?: string;
  readonly prompt?: string;
  readonly speakers?: string;
  readonly minSpeakers?: string;
  readonly maxSpeakers?: string;
}

/** Adds the options about recordings to a command that creates some. */
export function addRecordingOptions(command: Command): Command {
  return command
    .option("--language <code>", "ISO code of the spoken language (default: detected)")
    .option("--prompt <text>", "names and terms that occur, separated by commas")
    .option("--speakers <number>", `exact number of speakers, 1 to ${MAX_SPEAKERS} (default: detected)`)
    .option("--min-speakers <number>", "minimum number of speakers")
    .option("--max-speakers <number>", "maximum number of speakers");
}

/** Returns the hints in a command's options. @throws {CommandError} when one is not valid */
export function hintsOf(options: RecordingOptions): Hints {
  try {
    return parseHints(hintTexts(options));
  } catch (error) {
    if (!(error instanceof HintError)) throw error;
    throw new CommandError(`--${error.hint.replace("_", "-")}: ${error.message}`, exitCodes.usage);
  }
}

/** Returns the parts of a create's form that a command's options give. @throws {CommandError} when one is not valid */
export function createParts(options: RecordingOptions): Readonly<Record<string, string>> {
  hintsOf(options);
  const parts = { language: options.language, ...hintTexts(options) };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

function hintTexts({ prompt, speakers, minSpeakers, maxSpeakers }: RecordingOptions): HintTexts {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(speakers === undefined ? {} : { speakers }),
    ...(minSpeakers === undefined ? {} : { min_speakers: minSpeakers }),
    ...(maxSpeakers === undefined ? {} : { max_speakers: maxSpeakers }),
  };
}
