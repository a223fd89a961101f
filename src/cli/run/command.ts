import { tmpdir } from "node:os";
import { Command } from "commander";
import type { ExportFormat } from "../../exports/index.ts";
import { openLocalPipeline } from "../../server/index.ts";
import { databaseTrouble, MigrationError } from "../../storage/index.ts";
import { createLogger } from "../../telemetry/index.ts";
import { interruptedWith, interruptible } from "../client/interruptible.ts";
import { CommandError, commonExitCode } from "../command-error.ts";
import { print } from "../output.ts";
import { ProgressBoard } from "../progress/index.ts";
import { addOutputOptions, planOutputs } from "../results/index.ts";
import { addSettingsOptions, settingsForAll } from "../settings-options.ts";
import { type RunJob, type RunOutcome, runFile } from "./run-file.ts";

interface RunOptions {
  readonly language?: string;
  readonly model?: string;
  readonly format?: ExportFormat;
  readonly output?: string;
  readonly force?: boolean;
  readonly logLevel?: string;
  readonly json?: boolean;
}

/** transcribe run FILE… */
export function runCommand(): Command {
  const transcribing = new Command("run")
    .description("Transcribe recordings right here: no server, no account, nothing is kept but the transcripts.")
    .argument("<file...>", "recordings, audio or video")
    .option("--language <code>", "ISO code of the language that is spoken (default: found out)")
    .option("--model <model>", "id or path of a speech model (default: engine.whisper_model, else the program's own)");
  const command = addOutputOptions(transcribing).option(
    "--json",
    "print as JSON, for each: input, language, duration_seconds, segments, output, error",
  );
  return addSettingsOptions(command, ["storage.data_dir", "log.level"]).action(
    (files: string[], options: RunOptions) => {
      const outputs = planOutputs(files, options);
      const json = options.json === true;
      const jobs = files.map((file, index) => ({
        ...{ file, output: outputs[index] ?? null, heading: files.length > 1, json },
        ...{ language: options.language, force: options.force === true },
      }));
      return interruptible((signal) => run(command, jobs, options, signal));
    },
  );
}

async function run(command: Command, jobs: readonly RunJob[], options: RunOptions, signal: AbortSignal): Promise<void> {
  const settings = settingsForAll(command);
  const engine = { ...settings.engine, whisper_model: options.model ?? settings.engine.whisper_model };
  // The command's output suffices by default, so logs are written only if a level is given.
  const log = createLogger(options.logLevel ?? "silent");
  const outcomes: RunOutcome[] = [];
  const faults: CommandError[] = [];
  try {
    using board = new ProgressBoard();
    await using pipeline = await openLocalPipeline({ ...settings, engine }, log);
    for (const job of jobs) {
      const { outcome, fault } = await runFile(pipeline, board, job, signal);
      outcomes.push(outcome);
      if (fault === null) continue;
      faults.push(fault);
      if (jobs.length > 1) board.above(() => process.stderr.write(`transcribe: ${fault.message}\n`));
    }
  } catch (error) {
    const trouble = databaseTrouble(error instanceof MigrationError ? error.cause : error);
    // This command writes to its own temporary database only, so database errors concern the temporary directory.
    if (trouble !== null) {
      throw new CommandError(`can't work in ${tmpdir()} (${trouble}); name a directory with room: TMPDIR=DIRECTORY`);
    }
    throw interruptedWith(error, "interrupted; what was not finished is gone");
  }
  if (options.json === true) print(true, outcomes, () => "");
  const [first] = faults;
  if (first === undefined) return;
  const message = jobs.length === 1 ? first.message : `${faults.length} of ${jobs.length} were not done`;
  throw new CommandError(message, commonExitCode(faults.map(({ exitCode }) => exitCode)));
}
