import { Command } from "commander";
import { throwAll } from "../command-error.ts";
import { interruptedWith, interruptible } from "../interrupts.ts";
import { print } from "../output.ts";
import { addOutputOptions, makeOutputDirectory, type OutputOptions, planOutputs } from "../outputs.ts";
import { seconds } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { ProgressBoard } from "../progress-board.ts";
import { type RecordingInput, recordingName, recordingsArgument, recordingsOf } from "../recording-input.ts";
import { addRecordingOptions, createHints, type RecordingOptions } from "../recording-options.ts";
import { transcriptText } from "../recording-texts.ts";
import { ApiClient, type Connection } from "./api-client.ts";
import { Batch, type BatchOptions, type Job, type SubmitOutcome } from "./batch.ts";
import { addServerOptions, connectionOf, LONG_OUTAGE_SECONDS } from "./connection.ts";

interface TranscribeFilesOptions extends Pick<BatchOptions, "hints" | "everySeconds" | "force" | "wait"> {
  readonly connection: Connection;
  readonly jobs: readonly Job[];
  readonly json: boolean;
}

/**
 * Sends recordings and prints their ids or, with `wait`, prints their transcripts in order or writes them to files.
 * @throws {CommandError} when any recording failed @throws {InterruptedError}
 */
export function transcribeFiles({ connection, jobs, json, ...options }: TranscribeFilesOptions): Promise<void> {
  return interruptible(async (signal) => {
    const client = new ApiClient(connection, { signal, outageSeconds: LONG_OUTAGE_SECONDS });
    using board = new ProgressBoard();
    const printsIds = !options.wait && !json;
    const onCreated = (id: string) => {
      if (printsIds) board.above(() => process.stdout.write(`${id}\n`));
    };
    const batch = new Batch(jobs, { ...options, client, board, onCreated });
    try {
      // Reports a wrong address or key before a recording is sent.
      await client.checkKey();
      await batch.run();
    } catch (error) {
      board[Symbol.dispose]();
      if (signal.aborted && json) print({ json }, batch.outcomes, () => "");
      throw signal.aborted ? interruptedWith(signal.reason, interruptionMessage(batch)) : error;
    }
    board[Symbol.dispose]();
    if (json) print({ json }, batch.outcomes, () => "");
    else if (!printsIds) printTranscripts(jobs, batch.outcomes);
    const failed = batch.outcomes.filter(({ error }) => error !== null).length;
    throwAll(batch.faults, jobs.length === 1 ? undefined : `${failed} of ${jobs.length} recordings failed`);
  });
}

function interruptionMessage({ open, sending }: Batch): string {
  const words = ["interrupted"];
  if (open.length > 0) {
    const subject = open.length === 1 ? "the recording" : "the recordings";
    words.push(`the server continues to process ${subject}; follow with: transcribe watch ${open.join(" ")}`);
  }
  if (sending) words.push("the current upload is dropped, unless it had just arrived: transcribe list shows that");
  if (words.length === 1) words.push("nothing continues on the server");
  return words.join("; ");
}

function printTranscripts(recordings: readonly RecordingInput[], outcomes: readonly SubmitOutcome[]): void {
  for (const [index, { segments }] of outcomes.entries()) {
    if (segments === null) continue;
    const text = transcriptText(segments);
    const shown = printable(recordings[index]?.shown ?? "");
    process.stdout.write(outcomes.length > 1 ? `== ${shown} ==\n${text}\n` : text);
  }
}

interface SubmitOptions extends OutputOptions, RecordingOptions {
  readonly wait?: boolean;
  readonly every?: number;
  readonly name?: string;
}

/** transcribe submit FILE|URL|-… */
export function submitCommand(): Command {
  const sending = new Command("submit")
    .description("Send recordings to a server; with --wait or an output, wait for their transcripts.")
    .addArgument(
      recordingsArgument("<recording...>", "audio or video files, http(s) links, or - for standard input", {
        links: true,
      }),
    )
    .option("-w, --wait", "wait until all are completed and print the transcripts; else the ids are printed");
  const command = addOutputOptions(addRecordingOptions(sending))
    .option("--name <name>", "file name of the recording from standard input (default: recording)", recordingName)
    .option("--every <seconds>", "pause between polls (default: as the API recommends)", seconds)
    .option("--json", "print as JSON, for each recording: input, transcription, segments, output, error");
  return addServerOptions(command).action(async (inputs: string[], options: SubmitOptions) => {
    const { json = false, force = false, every } = options;
    const hints = createHints(options);
    const recordings = recordingsOf(inputs, options.name);
    const outputs = planOutputs(
      recordings.map(({ name }) => name),
      options,
    );
    const jobs = recordings.map((recording, index) => ({ ...recording, output: outputs[index] ?? null }));
    const wait = options.wait === true || jobs.some(({ output }) => output !== null);
    const connection = await connectionOf(command);
    makeOutputDirectory(options);
    await transcribeFiles({ connection, jobs, hints, wait, json, force, everySeconds: every });
  });
}
