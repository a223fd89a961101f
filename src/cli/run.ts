import { tmpdir } from "node:os";
import { Command } from "commander";
import type { SegmentResource } from "../api-contract/index.ts";
import { MigrationError } from "../database/index.ts";
import { databaseTrouble } from "../disk/index.ts";
import type { ExportLayout } from "../exports/index.ts";
import { type LocalPipeline, openLocalPipeline } from "../server/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { ExpectedError } from "../text/index.ts";
import { CommandError, exitCodes, throwAll, UsageError } from "./command-error.ts";
import { interruptedWith, interruptible } from "./interrupts.ts";
import { addLayoutOptions, type LayoutOptions, layoutOf, speakersOption } from "./layout-options.ts";
import { print } from "./output.ts";
import {
  addOutputOptions,
  makeOutputDirectory,
  type Output,
  type OutputOptions,
  planOutputs,
  writeOutput,
} from "./outputs.ts";
import { someText } from "./parse-option.ts";
import { printable, printableText } from "./printable.ts";
import { ProgressBoard } from "./progress-board.ts";
import {
  pathForProgram,
  type RecordingInput,
  recordingName,
  recordingsArgument,
  recordingsOf,
} from "./recording-input.ts";
import { addRecordingOptions, hintsOf, type RecordingOptions } from "./recording-options.ts";
import { failureTexts, progressText, transcriptText } from "./recording-texts.ts";
import { addSettingsOptions, settingsForAll } from "./settings-options.ts";

interface RunOptions extends OutputOptions, RecordingOptions, LayoutOptions {
  readonly labels?: ExportLayout["speakers"];
  readonly model?: string;
  readonly name?: string;
  readonly logLevel?: string;
}

/** transcribe run FILE|-… */
export function runCommand(): Command {
  const transcribing = new Command("run")
    .description("Transcribe recordings on this machine without a server or an account; only the transcripts are kept.")
    .addArgument(
      recordingsArgument("<recording...>", "audio or video files, or - for standard input", { links: false }),
    );
  const command = addLayoutOptions(
    addOutputOptions(
      addRecordingOptions(transcribing).option(
        "--model <model>",
        "id or path of a speech model (default: engine.whisper_model, else the built-in one)",
        someText,
      ),
    ).addOption(speakersOption("labels", ["letters", "none"])),
  )
    .option("--name <name>", "file name of the recording from standard input (default: recording)", recordingName)
    .option("--json", "print as JSON, for each: input, language, duration_seconds, segments, output, error");
  return addSettingsOptions(command, ["storage.data_dir", "log.level"]).action((files: string[], options: RunOptions) =>
    interruptible((signal) => run(command, files, options, signal)),
  );
}

/** Result of one file, in the format that `run --json` prints. */
interface RunOutcome {
  readonly input: string;
  readonly language: string | null;
  readonly duration_seconds: number | null;
  /** Null if a file was requested, or there is no transcript. */
  readonly segments: readonly SegmentResource[] | null;
  /** Path of the written file. */
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function run(
  command: Command,
  files: readonly string[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  hintsOf(options);
  const recordings = recordingsOf(files, options.name);
  const settings = settingsForAll(command);
  const outputs = planOutputs(
    recordings.map(({ name }) => name),
    options,
  );
  const format = outputs[0]?.format;
  const layout = layoutOf(options, format ?? "txt", options.labels, "labels");
  if (layout !== undefined && format === undefined)
    throw new UsageError("the form of a transcript needs --format or -o");
  makeOutputDirectory(options);
  const engine = { ...settings.engine, whisper_model: options.model ?? settings.engine.whisper_model };
  // The command's output suffices by default, so logs are written only if a level is given.
  const log = createLogger(options.logLevel ?? "silent");
  const outcomes: RunOutcome[] = [];
  const faults: CommandError[] = [];
  try {
    using board = new ProgressBoard();
    await using pipeline = await openLocalPipeline({ ...settings, engine }, log);
    for (const [index, recording] of recordings.entries()) {
      const job = { ...recording, output: outputs[index] ?? null, layout, heading: files.length > 1, options };
      const { outcome, fault } = await runFile(pipeline, board, job, signal);
      outcomes.push(outcome);
      if (fault === null) continue;
      faults.push(fault);
      if (files.length > 1) board.above(() => process.stderr.write(`transcribe: ${printableText(fault.message)}\n`));
    }
  } catch (error) {
    const fault = databaseTrouble(error instanceof MigrationError ? error.cause : error);
    // This command writes to its own temporary database only, so database errors concern the temporary directory.
    if (fault !== null) {
      throw new CommandError(`can't work in ${tmpdir()} (${fault}); name another directory: TMPDIR=DIRECTORY`);
    }
    throw interruptedWith(error, "interrupted; unfinished transcripts are lost");
  }
  if (options.json === true) print(options, outcomes, () => "");
  throwAll(faults, files.length === 1 ? undefined : `${faults.length} of ${files.length} recordings failed`);
}

interface RunJob extends RecordingInput {
  /** Destination of the transcript as a file; if null, it is printed for people. */
  readonly output: Output | null;
  /** Form of the file; undefined for the format's own. */
  readonly layout: ExportLayout | undefined;
  /** Whether the file's name is printed above the transcript. */
  readonly heading: boolean;
  /** With `--json`, the caller prints all results at the end, and nothing is printed here. */
  readonly options: RunOptions;
}

/** Transcribes one file and prints or writes its transcript. @throws the signal's reason */
async function runFile(
  pipeline: LocalPipeline,
  board: ProgressBoard,
  job: RunJob,
  signal: AbortSignal,
): Promise<{ outcome: RunOutcome; fault: CommandError | null }> {
  const nothing = { input: job.input, language: null, duration_seconds: null, segments: null, output: null };
  try {
    return { outcome: { ...nothing, ...(await transcribe(pipeline, board, job, signal)), error: null }, fault: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ExpectedError)) throw error;
    const fault = error instanceof CommandError ? error : new CommandError(error.message);
    return { outcome: { ...nothing, error: { code: fault.code, message: fault.message } }, fault };
  }
}

async function transcribe(
  pipeline: LocalPipeline,
  board: ProgressBoard,
  { input, shown, name, output, layout, heading, options }: RunJob,
  signal: AbortSignal,
): Promise<Partial<RunOutcome>> {
  const row = board.row(name);
  try {
    row.show(progressText("open"), null);
    const path = await pathForProgram(input, pipeline.directory, signal);
    const transcript = await pipeline.transcribe({
      ...{ path, name, shown, language: options.language, hints: hintsOf(options), signal },
      isTranslated: options.translate === true,
      onProgress: (step, percent) => row.show(progressText(step), percent),
    });
    const { recording, segments } = transcript;
    if (recording.status !== "completed") {
      const reason = recording.failureReason ?? "internal";
      const text =
        reason === "internal"
          ? `it could not be processed (${recording.failureCause}); for details: --log-level info`
          : failureTexts[reason];
      throw new CommandError(`${shown}: ${text}`, exitCodes.recordingFailed, reason);
    }
    const { audioTrack, audioTracks } = recording;
    if ((audioTracks ?? 1) > 1) board.note(`${printable(shown)}: audio track ${audioTrack} of ${audioTracks}`);
    const found = { language: recording.language, duration_seconds: recording.durationSeconds };
    if (output === null) {
      const text = transcriptText(segments);
      const printed = heading ? `== ${printable(shown)} ==\n${text}\n` : text;
      if (options.json !== true) board.above(() => process.stdout.write(printed));
      return { ...found, segments };
    }
    const bytes = await transcript.export(output.format, layout);
    row.end();
    await writeOutput(output.path, bytes, options.force === true);
    board.note(`${shown} → ${output.path}`);
    return { ...found, output: output.path };
  } finally {
    row.end();
  }
}
