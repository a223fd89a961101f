import type { PauseReason } from "../../../sdk/typescript/src/index.ts";
import type { SegmentResource, TranscriptionResource } from "../../api-contract/index.ts";
import { isOpen } from "../../recordings/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { readableTime } from "../output.ts";
import { type Output, writeOutput } from "../outputs.ts";
import { printable, printableText } from "../printable.ts";
import type { ProgressBoard, ProgressRow } from "../progress-board.ts";
import type { RecordingInput } from "../recording-input.ts";
import type { RecordingHints } from "../recording-options.ts";
import { failureTexts, progressText } from "../recording-texts.ts";
import type { ApiClient, PauseOptions } from "./api-client.ts";

/** A recording to be sent. */
export interface Job extends RecordingInput {
  /** Destination of the transcript as a file; null if no file is requested. */
  readonly output: Output | null;
}

/** Current result of a job, in the format that `submit --json` prints. */
export interface SubmitOutcome {
  readonly input: string;
  transcription: TranscriptionResource | null;
  /** Segments of the transcript, with `--wait` if no file is requested. */
  segments: SegmentResource[] | null;
  /** Path of the written file. */
  output: string | null;
  error: { readonly code: string; readonly message: string } | null;
}

export interface BatchOptions {
  readonly client: ApiClient;
  readonly board: ProgressBoard;
  /** Language, task and hints of each create. The task decides which text is printed or written. */
  readonly hints: RecordingHints;
  readonly wait: boolean;
  readonly everySeconds: number | undefined;
  readonly force: boolean;
  /** Called for each recording that the server has accepted. */
  readonly onCreated: (id: string) => void;
}

const pauseTexts: Readonly<Record<PauseReason, string>> = {
  place: "Waiting for a place",
  rate: "Waiting for the rate limit",
  server: "Waiting for the server",
};

/** Pauses for the rate limit from this length on are reported on stderr, even without a terminal. */
const REPORTED_PAUSE_MILLISECONDS = 60_000;

/**
 * Sends recordings one after the other and meanwhile follows those already sent. After a failure, the batch continues,
 * unless the key was refused or no server is reachable.
 */
export class Batch {
  readonly #options: BatchOptions;
  readonly outcomes: readonly SubmitOutcome[];
  readonly #jobs: readonly Job[];
  #following = 0;
  #placeFreed = Promise.withResolvers<void>();
  /** Whether a request to create a recording is in progress. Without its response, it may have arrived nonetheless. */
  sending = false;
  readonly faults: CommandError[] = [];

  constructor(jobs: readonly Job[], options: BatchOptions) {
    this.#jobs = jobs;
    this.#options = options;
    this.outcomes = jobs.map(({ input }) => ({
      ...{ input, transcription: null, segments: null, output: null, error: null },
    }));
  }

  /** Ids of the recordings whose last known status is `queued` or `processing`. */
  get open(): string[] {
    return this.outcomes.flatMap(({ transcription }) =>
      transcription !== null && isOpen(transcription.status) ? [transcription.id] : [],
    );
  }

  /** Runs all jobs. @throws the signal's reason when it is aborted; `outcomes` has the results until then */
  async run(): Promise<void> {
    const { client, board, wait } = this.#options;
    const { signal } = client;
    const following: Promise<unknown>[] = [];
    for (const [index, job] of this.#jobs.entries()) {
      const outcome = this.outcomes[index];
      if (outcome === undefined || signal.aborted) break;
      const row = board.row(job.name);
      const created = await this.#guarded(job, outcome, row, () => this.#create(job, outcome, row));
      if (created && wait) following.push(this.#guarded(job, outcome, row, () => this.#finish(job, outcome, row)));
      // With a refused key or an unreachable server, all further jobs would fail, too.
      const { refused, unreachable } = exitCodes;
      if (this.faults.some(({ exitCode }) => exitCode === refused || exitCode === unreachable)) break;
    }
    await Promise.all(following);
    signal.throwIfAborted();
    for (const outcome of this.outcomes) {
      if (outcome.transcription !== null || outcome.error !== null) continue;
      outcome.error = { code: "not_sent", message: "not sent because of an earlier failure" };
    }
  }

  async #create(job: Job, outcome: SubmitOutcome, row: ProgressRow): Promise<void> {
    const { client, hints, wait, onCreated } = this.#options;
    row.show(progressText("open"), null);
    outcome.transcription = await client.create(job.input, {
      ...this.#pauseOptions(row, job.shown),
      ...{ hints, name: job.name },
      onOpened: () => {
        row.show("Upload", 0);
        this.sending = true;
      },
      onSent: (fraction) => row.show("Upload", 100 * fraction),
    });
    this.sending = false;
    if (wait) row.show(progressText("queued"), null);
    else row.end();
    onCreated(outcome.transcription.id);
  }

  async #finish(job: Job, outcome: SubmitOutcome, row: ProgressRow): Promise<void> {
    const { client, everySeconds, force, hints } = this.#options;
    const text = hints.task === "translate" ? "translation" : "transcript";
    const id = outcome.transcription?.id ?? "";
    this.#following += 1;
    try {
      outcome.transcription = await client.follow(id, {
        ...this.#pauseOptions(row, job.shown),
        ...{ everySeconds, atOnce: false, together: () => this.#following },
        onPoll: ({ status, progress }) => row.show(progressText(progress.step ?? status), progress.percent),
      });
    } finally {
      this.#following -= 1;
      this.#placeFreed.resolve();
      this.#placeFreed = Promise.withResolvers();
    }
    const { status, failure_reason } = outcome.transcription;
    if (status === "failed") {
      const reason = failure_reason ?? "internal";
      throw new CommandError(`${failureTexts[reason]} (${id})`, exitCodes.recordingFailed, reason);
    }
    if (job.output === null) {
      outcome.segments = await client.segments(id, text);
      row.end();
      return;
    }
    const { format, path } = job.output;
    const bytes = await client.export(id, format, text);
    row.end();
    try {
      await writeOutput(path, bytes, force);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const option = text === "translation" ? " --translation" : "";
      throw new CommandError(
        `${error.message}; export it again: transcribe export ${id}${option} --format ${format} -o FILE`,
      );
    }
    outcome.output = path;
    this.#options.board.note(`${job.shown} → ${path}`);
  }

  /** Shows pauses in the progress row, and reports long pauses for the rate limit on stderr as well. */
  #pauseOptions(row: ProgressRow, shown: string): PauseOptions {
    return {
      onPause: ({ reason, milliseconds }) => {
        row.show(pauseTexts[reason], null);
        if (milliseconds >= REPORTED_PAUSE_MILLISECONDS && reason === "rate") {
          this.#report(shown, `the rate limit is used up; sent again at ${readableTime(Date.now() + milliseconds)}`);
        }
        return reason === "place" ? this.#placeFreed.promise : undefined;
      },
    };
  }

  #report(shown: string, message: string): void {
    this.#options.board.above(() =>
      process.stderr.write(`transcribe: ${printable(shown)}: ${printableText(message)}\n`),
    );
  }

  /**
   * Runs `work` and stores its error in the outcome. With several jobs, the error is also printed at once.
   * @returns whether the work succeeded
   */
  async #guarded(job: Job, outcome: SubmitOutcome, row: ProgressRow, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      row.end();
      if (this.#options.client.signal.aborted) return false;
      this.sending = false;
      if (!(error instanceof CommandError)) throw error;
      this.faults.push(error);
      outcome.error = { code: error.code, message: error.message };
      if (this.#jobs.length > 1) this.#report(job.shown, error.message);
      return false;
    }
  }
}
