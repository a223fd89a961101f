import PQueue from "p-queue";
import type { Recordings } from "../transcriptions/index.ts";

/** Works off one recording to its end; never throws for a fault of the recording. Stops early when the signal aborts. */
export type ProcessRecording = (recordingId: string, signal: AbortSignal) => Promise<void>;

export interface RecordingQueueOptions {
  readonly recordings: Recordings;
  readonly process: ProcessRecording;
  /** Recordings processed at once. */
  readonly slots: number;
}

/** A recording that had begun before a restart goes before those that had not. */
const priorities = { resumed: 1, new: 0 } as const;

/**
 * The recordings in hand, in memory, filled from the database, which is the truth: nothing is lost with this object. A
 * recording that waits holds a closure and no more.
 */
export class RecordingQueue {
  readonly #options: RecordingQueueOptions;
  readonly #queue: PQueue;
  readonly #stopping = new AbortController();
  readonly #enqueued = new Set<string>();

  constructor(options: RecordingQueueOptions) {
    this.#options = options;
    this.#queue = new PQueue({ concurrency: options.slots });
  }

  /** Takes up what an earlier server left: what was being processed first, then what waited, oldest first. */
  recover(): number {
    const { recordings } = this.#options;
    const { processing, queued } = recordings.listOpen();
    recordings.requeueAll();
    for (const id of processing) this.#add(id, priorities.resumed);
    for (const id of queued) this.#add(id, priorities.new);
    return processing.length + queued.length;
  }

  /** Adds a recording that was just created. */
  add(recordingId: string): void {
    this.#add(recordingId, priorities.new);
  }

  /** Tells the running recordings to stop at their next checkpoint and waits until they have; the rest stays `queued`. */
  async stop(): Promise<void> {
    this.#queue.clear();
    this.#stopping.abort(new QueueStoppedError());
    await this.#queue.onIdle();
  }

  #add(recordingId: string, priority: number): void {
    if (this.#enqueued.has(recordingId) || this.#stopping.signal.aborted) return;
    this.#enqueued.add(recordingId);
    void this.#queue.add(
      async () => {
        try {
          await this.#options.process(recordingId, this.#stopping.signal);
        } finally {
          this.#enqueued.delete(recordingId);
        }
      },
      { priority },
    );
  }
}

/** The reason a recording's signal is aborted with when the server stops. */
export class QueueStoppedError extends Error {
  override readonly name = "QueueStoppedError";
  constructor() {
    super("the server is stopping");
  }
}
