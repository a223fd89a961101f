import type { Command } from "commander";
import type { TranscriptionForm } from "../../sdk/typescript/src/index.ts";
import { HintError, type Hints, MAX_SPEAKERS, parseHints } from "../text/index.ts";
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

/** The language and the hints of a create. */
export type RecordingHints = Omit<TranscriptionForm, "file" | "url">;

/** Returns the language and the hints in a command's options for a create. @throws {CommandError} when one is not valid */
export function createHints(options: RecordingOptions): RecordingHints {
  hintsOf(options);
  const { language, prompt, speakers, minSpeakers, maxSpeakers } = options;
  const count = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const [min_speakers, max_speakers] = [count(minSpeakers), count(maxSpeakers)];
  return { language, prompt, speakers: count(speakers), min_speakers, max_speakers };
}

function hintTexts({ prompt, speakers, minSpeakers, maxSpeakers }: RecordingOptions): Parameters<typeof parseHints>[0] {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(speakers === undefined ? {} : { speakers }),
    ...(minSpeakers === undefined ? {} : { min_speakers: minSpeakers }),
    ...(maxSpeakers === undefined ? {} : { max_speakers: maxSpeakers }),
  };
}
