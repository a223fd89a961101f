import type { Counter } from "prom-client";
import type { Declarations, Sample } from "./declare.ts";

/** Number of recordings with one status and one account priority. */
export interface OpenRecordings {
  readonly status: "queued" | "processing";
  readonly priority: number;
  readonly count: number;
}

export interface QueueSource {
  openRecordings(): readonly OpenRecordings[];
  /** Returns the number of recordings that wait for the machine to work again, for every kind of trouble. */
  stalledRecordings(): readonly { readonly trouble: string; readonly count: number }[];
  /** Returns the longest time that a waiting recording has been queued; 0 when none waits. */
  oldestWaitingSeconds(): number;
}

/** A recording that ended, as far as it is counted. */
interface EndedRecording {
  /** A cancelled recording is not counted. */
  readonly outcome: "completed" | "failed" | "cancelled";
  readonly failure: { readonly reason: string; readonly cause?: string } | null;
  /** ISO code. */
  readonly language: string | null;
  readonly durationSeconds: number | null;
  readonly processingSeconds: number;
}

/** A kind of failure. `cause` is empty except for the reason `internal`. */
export interface FailureKind {
  readonly reason: string;
  readonly cause: string;
}

/** Adds the metrics of recordings that wait or are processed. */
export function registerQueueGauges(declare: Declarations, queue: QueueSource): void {
  declare.gauge(
    "transcribe_recordings_open",
    "Queued and processing recordings, by status and by the priority of their accounts",
    () => openSamples(queue.openRecordings()),
    ["status", "priority"],
  );
  declare.gauge(
    "transcribe_recordings_stalled",
    "Recordings that wait and are retried because of trouble with the machine, by the kind of trouble",
    () => queue.stalledRecordings().map(({ trouble, count }) => [count, trouble]),
    ["trouble"],
  );
  declare.gauge(
    "transcribe_queue_oldest_waiting_seconds",
    "Longest time that a waiting recording has been queued; 0 if none waits",
    () => queue.oldestWaitingSeconds(),
  );
}

/** Metrics of recordings from the queue to completion or failure. */
export class RecordingMetrics {
  readonly #ended: Counter<"status" | "reason" | "cause">;
  readonly #languages: Counter<"language">;
  readonly #audioReceived: Counter;
  readonly #audioCompleted: Counter;
  readonly #processingSeconds: Counter;
  readonly #recognized: Counter<"model">;

  /** @param failures all kinds of failure that exist */
  constructor(declare: Declarations, failures: readonly FailureKind[]) {
    this.#ended = declare.counter(
      "transcribe_recordings_ended_total",
      "Completed and failed recordings, by status, failure reason and, for the reason internal, its cause",
      ["status", "reason", "cause"],
      [
        { status: "completed", reason: "", cause: "" },
        ...failures.map(({ reason, cause }) => ({ status: "failed", reason, cause })),
      ],
    );
    this.#languages = declare.counter(
      "transcribe_recordings_completed_total",
      "Completed recordings, by language (ISO code)",
      ["language"],
    );
    this.#audioReceived = declare.counter(
      "transcribe_audio_received_seconds_total",
      "Duration of the decoded recordings",
    );
    this.#audioCompleted = declare.counter(
      "transcribe_audio_completed_seconds_total",
      "Duration of the completed recordings",
    );
    this.#processingSeconds = declare.counter(
      "transcribe_processing_seconds_total",
      "Time that recordings held a slot until they completed or were suspended; five at the same time count five times",
    );
    this.#recognized = declare.counter(
      "transcribe_recognized_parts_total",
      "Parts of recordings, each a chunk of speech or the part of one in one language, by the speech model that recognized them",
      ["model"],
    );
  }

  /**
   * Returns the number of failed recordings since the server was started, by kind; kinds without failures are left out.
   */
  async failures(): Promise<(FailureKind & { readonly count: number })[]> {
    const { values } = await this.#ended.get();
    return values
      .filter(({ labels, value }) => labels.status === "failed" && value > 0)
      .map(({ labels: { reason = "", cause = "" }, value }) => ({
        reason: String(reason),
        cause: String(cause),
        count: value,
      }));
  }

  /** Counts the audio of a recording whose length became known. */
  decoded(audioSeconds: number): void {
    this.#audioReceived.inc(audioSeconds);
  }

  /** Counts parts of recordings whose words a speech model recognized. */
  recognized(model: string, parts: number): void {
    this.#recognized.inc({ model }, parts);
  }

  /** Counts the slot time of a recording that yielded its slot to another account and resumes later. */
  suspended(processingSeconds: number): void {
    this.#processingSeconds.inc(processingSeconds);
  }

  ended({ outcome, failure, language, durationSeconds, processingSeconds }: EndedRecording): void {
    if (outcome === "cancelled") return;
    this.#ended.inc({ status: outcome, reason: failure?.reason ?? "", cause: failure?.cause ?? "" });
    if (outcome === "failed") return;
    this.#languages.inc({ language: language ?? "" });
    this.#audioCompleted.inc(durationSeconds ?? 0);
    this.#processingSeconds.inc(processingSeconds);
  }
}

/** Always includes priority 0, the default of accounts, so that an empty queue reads 0. */
function openSamples(open: readonly OpenRecordings[]): Sample[] {
  const found = open.map(({ status, priority, count }): Sample => [count, status, String(priority)]);
  return [[0, "queued", "0"], [0, "processing", "0"], ...found];
}
