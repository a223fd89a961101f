import { Command } from "commander";
import type { Settings } from "../../config/index.ts";
import { CommandError } from "../command-error.ts";
import { interruptible } from "../interrupts.ts";
import { type JsonOption, print } from "../output.ts";
import { languageCode, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { ProgressBoard } from "../progress-board.ts";
import { fileArgument, pathForProgram, type RecordingInput, recordingOf } from "../recording-input.ts";
import { progressText } from "../recording-texts.ts";
import { addSettingsOptions, settingsForAll } from "../settings-options.ts";
import { readSmallText } from "../small-file.ts";
import { countTextErrors } from "./text-errors.ts";

interface CheckOptions extends JsonOption {
  readonly transcript: string;
  readonly language?: string;
}

/** Languages written without spaces between words, whose characters are counted instead. */
const withoutSpaces = new Set(["zh", "yue", "ja", "th", "lo", "my", "km", "bo"]);
/** Maximum size of a transcript: about 40,000 words, whose comparison takes seconds. */
const MAX_TRANSCRIPT_BYTES = 256 * 1024;

/** transcribe models check MODEL RECORDING --transcript FILE */
export function checkCommand(): Command {
  const checking = new Command("check")
    .description("Measure a model's word errors on your own recording, without a server; nothing is stored.")
    .argument("<model>", "id or path of a speech model", someText)
    .addArgument(fileArgument("<recording>", "a recording, audio or video, or - for standard input"))
    .requiredOption("--transcript <file>", "the words that are spoken, as UTF-8 text", someText)
    .option("--language <code>", "ISO code of the spoken language (default: detected)", languageCode)
    .option("--json", "print the result as JSON");
  const command = addSettingsOptions(checking, ["storage.data_dir"]);
  return command.action((model: string, recording: string, options: CheckOptions) =>
    interruptible((signal) => check(command, model, recording, options, signal)),
  );
}

async function check(command: Command, model: string, input: string, options: CheckOptions, signal: AbortSignal) {
  const recording = recordingOf(input);
  const settings = settingsForAll(command);
  const reference = readSmallText(options.transcript, "the transcript", MAX_TRANSCRIPT_BYTES);
  const start = performance.now();
  if (countTextErrors(reference, "", "words").length === 0) {
    throw new CommandError(`${printable(options.transcript)} has no words`);
  }
  const { text, language, seconds } = await transcribe(
    { ...settings, engine: { ...settings.engine, whisper_model: model } },
    { ...recording, language: options.language, signal },
  );
  const unit = withoutSpaces.has(language ?? "") ? "characters" : "words";
  const { errors, length } = countTextErrors(reference, text, unit);
  const elapsed = (performance.now() - start) / 1000;
  const result = {
    ...{ model, language, unit, length, errors, error_rate: errors / length },
    ...{ duration_seconds: seconds, elapsed_seconds: elapsed },
  };
  print(options, result, () =>
    [
      `${model}: ${((100 * errors) / length).toFixed(1)} % of ${length} ${unit} are wrong (${errors}), language ${language}`,
      `${elapsed.toFixed(1)} s for ${(seconds ?? 0).toFixed(1)} s of audio, with the start of the models`,
    ].join("\n"),
  );
}

async function transcribe(
  settings: Settings,
  { input, language, signal, ...named }: RecordingInput & { language: string | undefined; signal: AbortSignal },
) {
  // Only this command for models needs the server, whose modules take longer to load than the others run.
  const [{ openLocalPipeline }, { createLogger }] = await Promise.all([
    import("../../server/index.ts"),
    import("../../telemetry/index.ts"),
  ]);
  using board = new ProgressBoard();
  await using pipeline = await openLocalPipeline(settings, createLogger("silent"));
  const row = board.row(named.name);
  const hints = { prompt: null, minSpeakers: null, maxSpeakers: null };
  const path = await pathForProgram(input, pipeline.directory, signal);
  const { recording, segments } = await pipeline.transcribe({
    ...{ ...named, path, language, hints, signal },
    onProgress: (step, percent) => row.show(progressText(step), percent),
  });
  row.end();
  if (recording.status !== "completed" && recording.failureReason !== "no_speech") {
    throw new CommandError(`${printable(named.shown)} could not be processed: ${recording.failureCause}`);
  }
  const text = segments.map((segment) => segment.text).join(" ");
  return { text, language: recording.language, seconds: recording.durationSeconds };
}
