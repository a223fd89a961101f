import type { Command } from "commander";
import type { TranscriptionForm } from "../../sdk/typescript/src/index.ts";
import { HintError, type Hints, MAX_SPEAKERS, parseHints } from "../text/index.ts";
import { UsageError } from "./command-error.ts";
import { languageCode } from "./parse-option.ts";

/** Facts about recordings that a command passes on. */
export interface RecordingOptions {
  readonly language?: string;
  /** Whether the speech is translated to English. */
  readonly translate?: true;
  readonly prompt?: string;
  readonly speakers?: string;
  readonly minSpeakers?: string;
  readonly maxSpeakers?: string;
}

/** Adds the options about recordings to a command that creates some. */
export function addRecordingOptions(command: Command): Command {
  return command
    .option("--language <code>", "ISO code of the spoken language (default: detected)", languageCode)
    .option("--translate", "translate to English; what is printed or written is the translation")
    .option("--prompt <text>", "names and terms that occur, separated by commas")
    .option("--speakers <number>", `exact number of speakers, 1 to ${MAX_SPEAKERS} (default: detected)`)
    .option("--min-speakers <number>", "minimum number of speakers")
    .option("--max-speakers <number>", "maximum number of speakers");
}

/** Returns the hints in a command's options. @throws {UsageError} when one is not valid */
export function hintsOf(options: RecordingOptions): Hints {
  try {
    const { prompt, speakers, minSpeakers, maxSpeakers } = options;
    return parseHints({ prompt, speakers, min_speakers: minSpeakers, max_speakers: maxSpeakers });
  } catch (error) {
    if (!(error instanceof HintError)) throw error;
    throw new UsageError(`--${error.hint.replace("_", "-")}: ${error.message}`);
  }
}

/** The language, the task and the hints of a create. */
export type RecordingHints = Omit<TranscriptionForm, "file" | "url">;

/**
 * Returns the language, the task and the hints in a command's options for a create.
 * @throws {UsageError} when one is not valid
 */
export function createHints(options: RecordingOptions): RecordingHints {
  hintsOf(options);
  const { language, translate, prompt, speakers, minSpeakers, maxSpeakers } = options;
  const task = translate === true ? "translate" : undefined;
  const count = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const [min_speakers, max_speakers] = [count(minSpeakers), count(maxSpeakers)];
  return { language, task, prompt, speakers: count(speakers), min_speakers, max_speakers };
}
