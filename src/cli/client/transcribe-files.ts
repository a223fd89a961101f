import { CommandError, commonExitCode } from "../command-error.ts";
import { print } from "../output.ts";
import { printable } from "../printable.ts";
import { ProgressBoard } from "../progress/index.ts";
import type { ApiClient } from "./api-client.ts";
import { Batch, type Job, type Outcome } from "./batch.ts";
import { realClock } from "./clock.ts";
import { interruptedWith, interruptible } from "./interruptible.ts";
import { Persistence } from "./persistence.ts";
import { transcriptText } from "./transcript-view.ts";

export interface TranscribeFilesOptions {
  readonly client: ApiClient;
  readonly jobs: readonly Job[];
  readonly language: string | undefined;
  /** Whether to wait for the transcripts; if false, the ids are printed. */
  readonly wait: boolean;
  readonly json: boolean;
  readonly force: boolean;
  readonly everySeconds: number | undefined;
}

/** Maximum time that a server may fail or be unreachable; longer than a restart takes. */
const troubleSeconds = 600;

/**
 * Sends recordings and prints their ids or, with `wait`, prints their transcripts in order or writes them to files.
 * @throws {CommandError} when any recording failed @throws {InterruptedError}
 */
export function transcribeFiles(options: TranscribeFilesOptions): Promise<void> {
  return interruptible(async (signal) => {
    using board = new ProgressBoard();
    const persistence = new Persistence({ clock: realClock, signal, troubleSeconds });
    const printing = options.wait || options.json;
    const batch = new Batch(options.jobs, {
      ...options,
      ...{ persistence, board },
      onCreated: ({ transcription }) => {
        if (!printing) board.above(() => process.stdout.write(`${transcription?.id}\n`));
      },
    });
    try {
      // Reports a wrong address or key before a recording is sent.
      await persistence.run(() => options.client.greet(signal));
      await batch.run();
    } catch (error) {
      board[Symbol.dispose]();
      if (signal.aborted && options.json) printOutcomes(batch.outcomes, true);
      throw signal.aborted ? interruptedWith(signal.reason, comeBack(batch)) : error;
    }
    board[Symbol.dispose]();
    if (printing) printOutcomes(batch.outcomes, options.json);
    requireDone(batch);
  });
}

function comeBack({ open, sending }: Batch): string {
  const [verb, which] = open.length === 1 ? ["goes", "recording"] : ["go", "recordings"];
  const words = ["interrupted"];
  if (open.length > 0) {
    words.push(`the ${which} ${verb} on without you, come back with: transcribe watch ${open.join(" ")}`);
  }
  if (sending) words.push("what was being sent is dropped, unless it had just arrived: transcribe list shows that");
  if (words.length === 1) words.push("nothing of it goes on");
  return words.join("; ");
}

function printOutcomes(outcomes: readonly Outcome[], json: boolean): void {
  if (json) {
    print(true, outcomes, () => "");
    return;
  }
  const shown = outcomes.filter(({ segments }) => segments !== null);
  for (const { input, segments } of shown) {
    const heading = outcomes.length > 1 ? `== ${printable(input)} ==\n` : "";
    const end = outcomes.length > 1 ? "\n" : "";
    process.stdout.write(`${heading}${transcriptText(segments ?? [])}${end}`);
  }
}

function requireDone({ outcomes, faults }: Batch): void {
  const failed = outcomes.filter(({ error }) => error !== null);
  const [first] = failed;
  if (first === undefined) return;
  const message =
    outcomes.length === 1 ? (first.error?.message ?? "") : `${failed.length} of ${outcomes.length} were not done`;
  throw new CommandError(message, commonExitCode(faults));
}
