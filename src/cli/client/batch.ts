import { basename } from "node:path";
import type { SegmentResource, TranscriptionResource } from "../../http/index.ts";
import { CommandError, type ExitCode, exitCodes } from "../command-error.ts";
import { printable } from "../printable.ts";
import type { ProgressBoard, ProgressRow } from "../progress/index.ts";
import { type Output, writeOutput } from "../results/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import { createRecording } from "./create.ts";
import { failureWords } from "./failure-words.ts";
import { followRecording } from "./follow.ts";
import type { Persistence, RunOptions } from "./persistence.ts";
import { readSegments } from "./read-segments.ts";
import { isLink } from "./upload-form.ts";

/** A recording to be sent. */
export interface Job {
  /** A file's path, or an http(s) URL. */
  readonly input: string;
  /** Destination of the transcript as a file; null if no file is requested. */
  readonly output: Output | null;
}

/** Current result of a job, in the format that `submit --json` prints. */
export interface Outcome {
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
  readonly persistence: Persistence;
  readonly board: ProgressBoard;
  readonly language: string | undefined;
  readonly wait: boolean;
  readonly everySeconds: number | undefined;
  readonly force: boolean;
  /** Called for each recording that the server has accepted. */
  readonly onCreated: (outcome: Outcome) => void;
}

/** Pauses for the rate limit from this length on are reported on stderr, even without a terminal. */
const tellingMilliseconds = 60_000;

/**
 * Sends recordings one after the other and meanwhile follows those already sent. After a failure, the batch continues,
 * unless the key was refused or no server is reachable.
 */
export class Batch {
  readonly #options: BatchOptions;
  readonly outcomes: readonly Outcome[];
  readonly #jobs: readonly Job[];
  #following = 0;
  #freed = Promise.withResolvers<void>();
  /** Whether a request to create a recording is in progress. Without its response, it may have arrived nonetheless. */
  sending = false;
  /** Exit codes of the failed jobs. */
  readonly faults: ExitCode[] = [];

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
      transcription !== null && (transcription.status === "queued" || transcription.status === "processing")
        ? [transcription.id]
        : [],
    );
  }

  /** Runs all jobs. @throws the signal's reason when it is aborted; `outcomes` has the results until then */
  async run(): Promise<void> {
    const { signal } = this.#options.persistence;
    const following: Promise<void>[] = [];
    for (const [index, job] of this.#jobs.entries()) {
      const outcome = this.outcomes[index];
      if (outcome === undefined || signal.aborted) break;
      const row = this.#options.board.row(isLink(job.input) ? job.input : basename(job.input));
      const created = await this.#guarded(outcome, row, () => this.#create(job, outcome, row));
      if (created && this.#options.wait) {
        following.push(this.#guarded(outcome, row, () => this.#finish(job, outcome, row)).then(() => {}));
      }
      // With a refused key or an unreachable server, all further jobs would fail, too.
      if (this.faults.includes(exitCodes.refused) || this.faults.includes(exitCodes.unreachable)) break;
    }
    await Promise.all(following);
    signal.throwIfAborted();
    for (const outcome of this.outcomes.filter(
      ({ transcription, error }) => transcription === null && error === null,
    )) {
      outcome.error = { code: "not_sent", message: "not sent, after what went wrong before" };
    }
  }

  async #create(job: Job, outcome: Outcome, row: ProgressRow): Promise<void> {
    const { client, persistence, language, wait, onCreated } = this.#options;
    row.show("upload", 0);
    this.sending = true;
    outcome.transcription = await createRecording(client, persistence, job.input, {
      ...this.#waiting(row, job.input),
      language,
      onSent: (fraction) => row.show("upload", 100 * fraction),
    });
    this.sending = false;
    if (wait) row.show("queued", null);
    else row.end();
    onCreated(outcome);
  }

  async #finish(job: Job, outcome: Outcome, row: ProgressRow): Promise<void> {
    const { client, persistence, everySeconds, force } = this.#options;
    const id = outcome.transcription?.id ?? "";
    this.#following += 1;
    try {
      outcome.transcription = await followRecording(client, persistence, id, {
        ...this.#waiting(row, job.input),
        ...{ everySeconds, atOnce: false, together: () => this.#following },
        onPoll: ({ status, progress }) => row.show(progress.step ?? status, progress.percent),
      });
    } finally {
      this.#following -= 1;
      this.#freed.resolve();
      this.#freed = Promise.withResolvers();
    }
    const { status, failure_reason } = outcome.transcription;
    if (status === "failed") {
      throw new CommandError(`${failureWords[failure_reason ?? "internal"]} (${id})`, exitCodes.recordingFailed);
    }
    if (job.output === null) {
      outcome.segments = await readSegments(client, persistence, id);
      row.end();
      return;
    }
    const { format, path } = job.output;
    const bytes = await persistence.run(() => client.export(id, format, persistence.signal));
    row.end();
    await this.#write(path, bytes, force, `transcribe export ${id} --format ${format} -o FILE`);
    outcome.output = path;
    this.#options.board.note(`${job.input} → ${path}`);
  }

  async #write(path: string, bytes: Uint8Array, force: boolean, again: string): Promise<void> {
    try {
      await writeOutput(path, bytes, force);
    } catch (error) {
      throw error instanceof CommandError ? new CommandError(`${error.message}; get it again: ${again}`) : error;
    }
  }

  /** Reports waiting requests in their progress row, and long pauses for the rate limit on stderr as well. */
  #waiting(row: ProgressRow, input: string): RunOptions {
    const words = { place: "waits for a place", rate: "waits for the rate limit", server: "waits for the server" };
    return {
      placeFreed: () => this.#freed.promise,
      onPause: (wait, milliseconds) => {
        row.show(words[wait], null);
        if (milliseconds < tellingMilliseconds || wait !== "rate") return;
        const until = new Date(Date.now() + milliseconds).toISOString();
        this.#say(`${printable(input)}: the rate limit is spent; sent again at ${until}`);
      },
    };
  }

  #say(line: string): void {
    this.#options.board.above(() => process.stderr.write(`transcribe: ${line}\n`));
  }

  /**
   * Runs `work` and stores its error in the outcome. With several jobs, the error is also printed at once.
   * @returns whether the work succeeded
   */
  async #guarded(outcome: Outcome, row: ProgressRow, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      row.end();
      if (this.#options.persistence.signal.aborted) return false;
      this.sending = false;
      if (!(error instanceof CommandError)) throw error;
      this.faults.push(error.exitCode);
      const failure = outcome.transcription?.failure_reason;
      const code = error instanceof ClientError ? error.code : failure == null ? "local" : failure;
      outcome.error = { code, message: error.message };
      if (this.#jobs.length > 1) this.#say(`${printable(outcome.input)}: ${error.message}`);
      return false;
    }
  }
}
