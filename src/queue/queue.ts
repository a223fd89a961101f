import PQueue from "p-queue";
import { type Outcome, ParkingError } from "../pipeline/index.ts";
import { type MachineTroubleKind, machineTrouble } from "../storage/index.ts";
import type { Recording, Recordings } from "../transcriptions/index.ts";
import { type FairnessRules, fairQueueClass, orderOf, type Waiting } from "./fair-queue.ts";
import { StalledRecordings } from "./stalled-recordings.ts";

/**
 * Works off one recording to its end, or says what it has to wait for; never throws for a fault of the recording. Stops early
 * when the signal aborts.
 */
export type ProcessRecording = (recordingId: string, signal: AbortSignal) => Promise<Outcome>;

export interface RecordingQueueOptions {
  readonly recordings: Recordings;
  readonly process: ProcessRecording;
  /** Recordings processed at once. */
  readonly slots: number;
  readonly priorityOf: FairnessRules["priorityOf"];
  readonly now: () => number;
  /** How long stopping takes at most, what the worker is at included. */
  readonly stopMilliseconds?: number;
  /** How often is looked whether a running recording was ended by command. */
  readonly watchMilliseconds?: number;
  /** Told of what a recording's processing threw: a fault of the program. The recording is tried again. */
  readonly onFault: (recordingId: string, error: unknown) => void;
  /** How long a recording that waits for the machine waits until it is tried again, by the number of tries. */
  readonly retryMilliseconds?: (tries: number) => number;
}

interface Running {
  readonly accountId: string;
  readonly controller: AbortController;
}

/** Docker gives 10 s to stop, systemd 30; answers under way take their time, too. */
const defaultStopMilliseconds = 8000;
/** Of the time to stop, what the worker has for what it is at. */
const graceShare = 0.8;

/**
 * The recordings in hand, in memory, filled from the database, which is the truth: nothing is lost with this object. A
 * recording that waits holds a closure and no more.
 */
export class RecordingQueue {
  readonly #options: RecordingQueueOptions;
  readonly #queue: PQueue<InstanceType<ReturnType<typeof fairQueueClass>>, Waiting>;
  readonly #rules: FairnessRules;
  readonly #running = new Map<string, Running>();
  readonly #enqueued = new Map<string, Waiting>();
  readonly #stalled: StalledRecordings;
  readonly #watch: Timer;
  #stopping: Promise<void> | null = null;

  constructor(options: RecordingQueueOptions) {
    this.#options = options;
    this.#stalled = new StalledRecordings(options.now, options.retryMilliseconds);
    const runningOf = (accountId: string) =>
      [...this.#running.values()].filter((running) => running.accountId === accountId).length;
    const { priorityOf, now } = options;
    this.#rules = { priorityOf, now, runningOf };
    this.#queue = new PQueue({ concurrency: options.slots, queueClass: fairQueueClass(this.#rules) });
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
    const { processing, queued } = recordings.open.list();
    try {
      recordings.requeueAll();
    } catch (error) {
      // On a full disk they read `processing` until they are gone on with, which can be waited for.
      if (machineTrouble(error) === null) throw error;
    }
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

  /**
   * Parks the running recordings, each once the worker has done what it has begun of it, and waits until they are; the rest
   * stays `queued`. What takes longer than the time there is for it is left behind.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#park(this.#options.stopMilliseconds ?? defaultStopMilliseconds);
    return this.#stopping;
  }

  async #park(milliseconds: number): Promise<void> {
    clearInterval(this.#watch);
    this.#queue.clear();
    this.#stalled.stop();
    for (const { controller } of this.#running.values()) controller.abort(new ParkingError(milliseconds * graceShare));
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, milliseconds);
    await Promise.race([this.#queue.onIdle(), limit.promise]);
    clearTimeout(timer);
  }

  /** What recordings that could not go on wait for, one entry for each. */
  stalled(): MachineTroubleKind[] {
    return this.#stalled.troubles();
  }

  /** Ids of those that wait for a slot, in the order in which they would begin now. @param most ids at most */
  waiting(most: number): string[] {
    const waiting = [...this.#enqueued.values()].filter(({ recordingId }) => !this.#running.has(recordingId));
    return orderOf(waiting, this.#rules, most).map(({ recordingId }) => recordingId);
  }

  /** What a recording that could not go on waits for; null for one that can, and after a fault of the program. */
  troubleOf(recordingId: string): MachineTroubleKind | null {
    return this.#stalled.troubleOf(recordingId);
  }

  #add(recording: Recording, resumed: boolean): void {
    const { id, accountId, createdAt } = recording;
    if (this.#enqueued.has(id) || this.#stopping !== null) return;
    const waiting = { recordingId: id, accountId, waitingSince: createdAt, resumed };
    this.#enqueued.set(id, waiting);
    const run = async () => {
      const controller = new AbortController();
      this.#running.set(id, { accountId, controller });
      this.#stalled.begins(id);
      const endsBefore = this.#stalled.ends;
      const trouble = await this.#process(id, controller.signal);
      this.#running.delete(id);
      this.#enqueued.delete(id);
      if (trouble === "none") this.#stalled.ended(id);
      else if (this.#stopping === null)
        this.#stalled.tryLater(id, trouble, endsBefore, () => this.#add(recording, true));
    };
    void this.#queue.add(run, waiting);
  }

  async #process(id: string, signal: AbortSignal): Promise<MachineTroubleKind | "none" | null> {
    try {
      return (await this.#options.process(id, signal))?.waitsFor ?? "none";
    } catch (error) {
      // What is left behind when the server stops meets a closed database.
      if (this.#stopping === null) this.#options.onFault(id, error);
      return null;
    }
  }

  /** Commands end recordings in the database; what runs here is told so. */
  #abortEnded(): void {
    for (const [id, { controller }] of this.#running) {
      if (!this.#isOpen(id)) controller.abort(new RecordingEndedError());
    }
  }

  #isOpen(id: string): boolean {
    try {
      const status = this.#options.recordings.get(id)?.status;
      return status === "queued" || status === "processing";
    } catch {
      // A database that can't be read says nothing; the next look will.
      return true;
    }
  }
}

/** The reason a recording's signal is aborted with when a command has ended it. */
class RecordingEndedError extends Error {
  override readonly name = "RecordingEndedError";
  constructor() {
    super("the recording was ended by command");
  }
}
