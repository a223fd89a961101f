import PQueue from "p-queue";
import type { Recording, Recordings } from "../transcriptions/index.ts";
import { type FairnessRules, fairQueueClass, type Waiting } from "./fair-queue.ts";

/** Works off one recording to its end; never throws for a fault of the recording. Stops early when the signal aborts. */
export type ProcessRecording = (recordingId: string, signal: AbortSignal) => Promise<void>;

export interface RecordingQueueOptions {
  readonly recordings: Recordings;
  readonly process: ProcessRecording;
  /** Recordings processed at once. */
  readonly slots: number;
  readonly priorityOf: FairnessRules["priorityOf"];
  readonly now: () => number;
  /** How often is looked whether a running recording was ended by command. */
  readonly watchMilliseconds?: number;
}

interface Running {
  readonly accountId: string;
  readonly controller: AbortController;
}

/**
 * The recordings in hand, in memory, filled from the database, which is the truth: nothing is lost with this object. A
 * recording that waits holds a closure and no more.
 */
export class RecordingQueue {
  readonly #options: RecordingQueueOptions;
  readonly #queue: PQueue<InstanceType<ReturnType<typeof fairQueueClass>>, Waiting>;
  readonly #running = new Map<string, Running>();
  readonly #enqueued = new Set<string>();
  readonly #watch: Timer;
  #stopped = false;

  constructor(options: RecordingQueueOptions) {
    this.#options = options;
    const runningOf = (accountId: string) =>
      [...this.#running.values()].filter((running) => running.accountId === accountId).length;
    const { priorityOf, now } = options;
    this.#queue = new PQueue({
      concurrency: options.slots,
      queueClass: fairQueueClass({ priorityOf, now, runningOf }),
    });
    this.#watch = setInterval(() => this.#abortEnded(), options.watchMilliseconds ?? 1000);
    this.#watch.unref();
  }

  /** Recordings processed at once from now on. Fewer than run leaves these in peace: none begins until enough have ended. */
  set slots(slots: number) {
    this.#queue.concurrency = slots;
  }

  /** Takes up what an earlier server left: what was being processed first, then what waited. */
  recover(): number {
    const { recordings } = this.#options;
    const { processing, queued } = recordings.listOpen();
    recordings.requeueAll();
    // None begins before all are known, or those that came first would take every slot, whatever their priority.
    this.#queue.pause();
    for (const recording of processing) this.#add(recording, true);
    for (const recording of queued) this.#add(recording, false);
    this.#queue.start();
    return processing.length + queued.length;
  }

  /** Adds a recording that was just created. */
  add(recording: Recording): void {
    this.#add(recording, false);
  }

  /** Tells the running recordings to stop at their next checkpoint and waits until they have; the rest stays `queued`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#watch);
    this.#queue.clear();
    for (const { controller } of this.#running.values()) controller.abort(new QueueStoppedError());
    await this.#queue.onIdle();
  }

  #add({ id, accountId, createdAt }: Recording, resumed: boolean): void {
    if (this.#enqueued.has(id) || this.#stopped) return;
    this.#enqueued.add(id);
    const run = async () => {
      const controller = new AbortController();
      this.#running.set(id, { accountId, controller });
      try {
        await this.#options.process(id, controller.signal);
      } finally {
        this.#running.delete(id);
        this.#enqueued.delete(id);
      }
    };
    void this.#queue.add(run, { recordingId: id, accountId, waitingSince: createdAt, resumed });
  }

  /** Commands end recordings in the database; what runs here is told so. */
  #abortEnded(): void {
    for (const [id, { controller }] of this.#running) {
      const status = this.#options.recordings.get(id)?.status;
      if (status !== "queued" && status !== "processing") controller.abort(new RecordingEndedError());
    }
  }
}

/** The reason a recording's signal is aborted with when the server stops. */
class QueueStoppedError extends Error {
  override readonly name = "QueueStoppedError";
  constructor() {
    super("the server is stopping");
  }
}

/** The reason a recording's signal is aborted with when a command has ended it. */
class RecordingEndedError extends Error {
  override readonly name = "RecordingEndedError";
  constructor() {
    super("the recording was ended by command");
  }
}
