import { existsSync } from "node:fs";
import { basename } from "node:path";
import { ExportError } from "../../exports/index.ts";
import type { SegmentResource } from "../../http/index.ts";
import { type LocalPipeline, StartError } from "../../server/index.ts";
import { failureWords } from "../client/failure-words.ts";
import { transcriptText } from "../client/transcript-view.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { printable } from "../printable.ts";
import type { ProgressBoard } from "../progress/index.ts";
import { type Output, writeOutput } from "../results/index.ts";

export interface RunJob {
  readonly file: string;
  readonly language: string | undefined;
  /** Destination of the transcript as a file; if null, it is printed for people. */
  readonly output: Output | null;
  readonly force: boolean;
  /** Whether the file's name is printed above the transcript. */
  readonly heading: boolean;
  /** Whether the caller prints all results as JSON at the end; if so, nothing is printed here. */
  readonly json: boolean;
}

/** Result of one file, in the format that `run --json` prints. */
export interface RunOutcome {
  readonly input: string;
  readonly language: string | null;
  readonly duration_seconds: number | null;
  /** Null if a file was requested, or there is no transcript. */
  readonly segments: readonly SegmentResource[] | null;
  /** Path of the written file. */
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A recording failed; the code is its failure reason. */
class FailedError extends CommandError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message, exitCodes.recordingFailed);
    this.code = code;
  }
}

/** Transcribes one file and prints or writes its transcript. @throws the signal's reason */
export async function runFile(
  pipeline: LocalPipeline,
  board: ProgressBoard,
  job: RunJob,
  signal: AbortSignal,
): Promise<{ outcome: RunOutcome; fault: CommandError | null }> {
  const nothing = { input: job.file, language: null, duration_seconds: null, segments: null, output: null };
  try {
    return { outcome: { ...nothing, ...(await transcribe(pipeline, board, job, signal)), error: null }, fault: null };
  } catch (error) {
    signal.throwIfAborted();
    const known = error instanceof CommandError || error instanceof StartError || error instanceof ExportError;
    if (!known) throw error;
    const fault = error instanceof CommandError ? error : new CommandError(error.message);
    const code = error instanceof FailedError ? error.code : "local";
    return { outcome: { ...nothing, error: { code, message: fault.message } }, fault };
  }
}

async function transcribe(pipeline: LocalPipeline, board: ProgressBoard, job: RunJob, signal: AbortSignal) {
  const { file, language, output } = job;
  if (!existsSync(file)) throw new CommandError(`there is no file ${file}`);
  const row = board.row(basename(file));
  try {
    const transcript = await pipeline.transcribe({
      ...{ file, language, signal },
      onProgress: (step, percent) => row.show(step, percent),
    });
    const { recording, segments } = transcript;
    if (recording.status !== "completed") {
      const reason = recording.failureReason ?? "internal";
      const words =
        reason === "internal"
          ? `it could not be processed (${recording.failureCause}); --log-level info tells more`
          : failureWords[reason];
      throw new FailedError(reason, `${file}: ${words}`);
    }
    const found = { language: recording.language, duration_seconds: recording.durationSeconds };
    if (output === null) {
      if (!job.json) board.above(() => process.stdout.write(headed(job, transcriptText(segments))));
      return { ...found, segments };
    }
    const bytes = await transcript.export(output.format);
    row.end();
    await writeOutput(output.path, bytes, job.force);
    board.note(`${file} → ${output.path}`);
    return { ...found, output: output.path };
  } finally {
    row.end();
  }
}

function headed({ file, heading }: RunJob, text: string): string {
  return heading ? `== ${printable(file)} ==\n${text}\n` : text;
}
