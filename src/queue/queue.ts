import type { Recording } from "../database/index.ts";
import { type MachineTroubleKind, machineTrouble } from "../disk/index.ts";
import type { Recordings } from "../recordings/index.ts";
import {
  accountsWithAllDownloads,
  type FairnessRules,
  holderToSuspend,
  MAX_DOWNLOADS,
  orderOf,
  type Waiting,
} from "./fair-queue.ts";
import { type Outcome, RecordingEndedError, SuspendError } from "./outcome.ts";
import { StalledRecordings } from "./stalled-recordings.ts";

/**
 * Processes one recording until it has ended, or returns what it waits for; never throws for a fault of the recording.
 * Stops early when the signal aborts.
 */
type WorkOnRecording = (recordingId: string, signal: AbortSignal) => Promise<Outcome>;

interface RecordingQueueOptions {
  readonly recordings: Recordings;
  /** Downloads a link's recording, which then waits for a slot. */
  readonly fetch: WorkOnRecording;
  /** Processes a recording whose file is stored. */
  readonly process: WorkOnRecording;
  /** Recordings processed at once. */
  readonly slots: number;
  readonly priorityOf: FairnessRules["priorityOf"];
  readonly now: () => number;
  /** Maximum duration of stopping, including the worker's operations in progress. */
  readonly stopMilliseconds?: number;
  /** Interval for checking whether a command has ended a recording, and whether the slots are shared fairly. */
  readonly watchMilliseconds?: number;
  /** Called with an error that processing threw: a fault of the program. The recording is retried. */
  readonly onFault: (recordingId: string, error: unknown) => void;
  /** Returns the delay before the retry of a recording that waits for the machine, by the number of attempts. */
  readonly retryMilliseconds?: (attempts: number) => number;
}

/** What an attempt takes: a slot for processing, or a place among the downloads of links. */
type Place = "slot" | "download";

/** A recording that is waiting or in progress. */
interface Entry {
  readonly recording: Recording;
  readonly waiting: Waiting;
  readonly place: Place;
}

/** An attempt in progress at a recording. */
interface Attempt {
  readonly accountId: string;
  /** Null: it takes none, because the recording was ended by command, and is only cleaned up. */
  readonly place: Place | null;
  readonly controller: AbortController;
  /** Ends the grace time of a suspended recording early. */
  readonly graceEnd: AbortController;
  /** Resolves when the work has stopped. */
  readonly stopped: PromiseWithResolvers<void>;
}

/**
 * The result of an attempt: the recording has ended, or waits for a slot or the machine; null for a fault in the code.
 */
type WaitsFor = MachineTroubleKind | "slot" | "end" | null;

/** Maximum duration of stopping. Docker allows 10 s, systemd 30 s; responses in progress need time, too. */
const STOP_MILLISECONDS = 8000;
/** Share of the stop time within which the worker may finish operations in progress. */
const GRACE_SHARE = 0.8;
/** Grace time of a recording that releases its slot to another account: many times the duration of a chunk. */
const SHARING_GRACE_MILLISECONDS = 10 * 60_000;

/**
 * The open recordings, in memory. The database is authoritative, so nothing is lost with this object. A link is
 * downloaded outside the slots; its recording then waits for a slot. A waiting recording holds only a closure.
 */
export class RecordingQueue {
  readonly #options: RecordingQueueOptions;
  readonly #rules: Readonly<Record<Place, FairnessRules>>;
  #slots: number;
  #isChanging = false;
  /** The attempts in progress, in the order in which they started. */
  readonly #attempts = new Map<string, Attempt>();
  /** All open recordings except those that are stalled. */
  readonly #entries = new Map<string, Entry>();
  /** Sequence number of the last recording that started, by account. */
  readonly #lastStarts = { slot: new Map<string, number>(), download: new Map<string, number>() };
  #starts = 0;
  readonly #stalled: StalledRecordings;
  readonly #watch: Timer;
  #stopping: Promise<void> | null = null;

  constructor(options: RecordingQueueOptions) {
    this.#options = options;
    this.#slots = options.slots;
    this.#stalled = new StalledRecordings(options.now, options.retryMilliseconds);
    const rulesOf = (place: Place, running: () => readonly Attempt[]) => ({
      now: options.now,
      runningOf: (account: string) => running().filter(({ accountId }) => accountId === account).length,
      lastStartOf: (account: string) => this.#lastStarts[place].get(account) ?? 0,
    });
    this.#rules = {
      slot: { ...rulesOf("slot", () => this.#staying()), priorityOf: options.priorityOf, slots: () => this.#slots },
      // Priorities are for the slots. Other limits see to it that no account has all downloads.
      download: {
        ...rulesOf("download", () => this.#holding("download")),
        priorityOf: () => 0,
        slots: () => Number.POSITIVE_INFINITY,
      },
    };
    this.#watch = setInterval(() => {
      this.followCommands();
      this.#addReruns();
      this.#shareSlots();
      this.#fillSlots();
    }, options.watchMilliseconds ?? 1000);
    this.#watch.unref();
  }

  /**
   * Sets the number of recordings processed at once. If more are running, none starts until enough have ended or were
   * suspended for others.
   */
  set slots(slots: number) {
    this.#slots = slots;
    this.#fillSlots();
  }

  /** Resumes the recordings of an earlier server: first those in progress, then those that waited. */
  recover(): number {
    const { recordings } = this.#options;
    const { processing, queued } = recordings.open.list();
    // On a full disk, recordings keep the state `processing` until they are resumed, which is acceptable.
    ifPossible(() => recordings.requeueAll());
    this.#fillSlotsAfter(() => {
      for (const recording of processing) this.#add(recording, { resumed: true });
      for (const recording of queued) this.#add(recording);
    });
    return processing.length + queued.length;
  }

  /** Adds a recording that was just created. */
  add(recording: Recording): void {
    this.#add(recording);
  }

  /**
   * Suspends the recordings in progress, each once the worker has finished its current operation, and waits for them.
   * The others stay `queued`. A recording that takes longer than the stop time is abandoned.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop(this.#options.stopMilliseconds ?? STOP_MILLISECONDS);
    return this.#stopping;
  }

  async #stop(milliseconds: number): Promise<void> {
    clearInterval(this.#watch);
    this.#stalled.stop();
    const graceMilliseconds = milliseconds * GRACE_SHARE;
    const attempts = [...this.#attempts.values()];
    for (const attempt of attempts) suspend(attempt, graceMilliseconds);
    // Recordings that were already leaving their slots had more time.
    const graceTimer = setTimeout(() => attempts.forEach(endGrace), graceMilliseconds);
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, milliseconds);
    await Promise.race([Promise.all(attempts.map(({ stopped }) => stopped.promise)), limit.promise]);
    clearTimeout(timer);
    clearTimeout(graceTimer);
  }

  /** Returns the trouble that stalled recordings wait for, one entry for each. */
  stalled(): MachineTroubleKind[] {
    return this.#stalled.troubles();
  }

  /**
   * Returns ids of waiting recordings. First come those that wait for a slot, in the order in which they would start
   * now, then those that wait for their download.
   */
  waiting(limit: number): string[] {
    const places: readonly Place[] = ["slot", "download"];
    const order = places.flatMap((place) => orderOf(this.#waitingFor(place), this.#rules[place], limit));
    return order.slice(0, limit).map(({ recordingId }) => recordingId);
  }

  /**
   * Returns the trouble that a stalled recording waits for; null for any other recording, or after a fault in the code.
   */
  troubleOf(recordingId: string): MachineTroubleKind | null {
    return this.#stalled.troubleOf(recordingId);
  }

  /** @param resumed whether its processing had started @param isRetry whether it met trouble of the machine */
  #add(recording: Recording, { resumed = false, waitingSince = recording.createdAt, isRetry = false } = {}): void {
    const { id, accountId, createdAt } = recording;
    const { now } = this.#options;
    if (this.#entries.has(id) || this.#stopping !== null) return;
    const place = recording.sourceUrl !== null && recording.sizeBytes === null ? "download" : "slot";
    const waiting =
      place === "slot"
        ? { recordingId: id, accountId, createdAt, waitingSince, resumed }
        : // A few links that fill the disk would otherwise make the account's other links wait for ever.
          { ...{ recordingId: id, accountId, waitingSince, resumed: false }, createdAt: isRetry ? now() : createdAt };
    this.#entries.set(id, { recording, waiting, place });
    this.#fillSlots();
  }

  /** Runs a change, and starts waiting recordings only afterwards: all that it adds compete for the free slots. */
  #fillSlotsAfter(change: () => void): void {
    this.#isChanging = true;
    try {
      change();
    } finally {
      this.#isChanging = false;
    }
    this.#fillSlots();
  }

  /** Starts waiting recordings in the free slots, and waiting downloads. */
  #fillSlots(): void {
    while (this.#startNext("slot") || this.#startNext("download"));
  }

  /** @returns whether a recording was started */
  #startNext(place: Place): boolean {
    const taken = this.#holding(place);
    const most = place === "slot" ? this.#slots : MAX_DOWNLOADS;
    if (this.#isChanging || this.#stopping !== null || taken.length >= most) return false;
    const full = place === "slot" ? null : accountsWithAllDownloads(taken);
    const waiting = this.#waitingFor(place).filter(({ accountId }) => full?.has(accountId) !== true);
    const [next] = ifPossible(() => orderOf(waiting, this.#rules[place], 1)) ?? [];
    const entry = next === undefined ? undefined : this.#entries.get(next.recordingId);
    if (entry === undefined) return false;
    this.#lastStarts[place].set(entry.waiting.accountId, ++this.#starts);
    void this.#attempt(entry, place);
    return true;
  }

  async #attempt(entry: Entry, place: Attempt["place"]): Promise<void> {
    const { recording } = entry;
    const { id, accountId } = recording;
    const [controller, graceEnd] = [new AbortController(), new AbortController()];
    const attempt = { accountId, place, controller, graceEnd, stopped: Promise.withResolvers<void>() };
    this.#attempts.set(id, attempt);
    this.#stalled.started(id);
    const endsBefore = this.#stalled.ends;
    const work = entry.place === "download" ? this.#options.fetch : this.#options.process;
    const outcome = await this.#work(id, work, controller.signal);
    const { waitsFor, record } = this.#requeued(recording, outcome);
    this.#attempts.delete(id);
    this.#entries.delete(id);
    attempt.stopped.resolve();
    this.#fillSlotsAfter(() => {
      if (waitsFor === "end") this.#stalled.ended(id);
      else if (this.#stopping !== null) return;
      else if (waitsFor === "slot") {
        this.#stalled.resumed(id);
        this.#add(record, { waitingSince: this.#options.now() });
      } else
        this.#stalled.retryLater(id, waitsFor, endsBefore, () => this.#add(record, { resumed: true, isRetry: true }));
    });
  }

  async #work(id: string, work: WorkOnRecording, signal: AbortSignal): Promise<WaitsFor> {
    try {
      return (await work(id, signal))?.waitsFor ?? "end";
    } catch (error) {
      // An abandoned recording finds the database closed when the server stops.
      if (this.#stopping === null) this.#options.onFault(id, error);
      return null;
    }
  }

  /** Stores that a recording waits for a slot, unless the server stops: the next server requeues all. */
  #requeued(record: Recording, waitsFor: WaitsFor): { readonly waitsFor: WaitsFor; readonly record: Recording } {
    if (waitsFor !== "slot" || this.#stopping !== null) return { waitsFor, record };
    try {
      // A recording that a command has ended in the meantime is cleaned up like any other waiting one.
      return { waitsFor, record: this.#options.recordings.requeue(record.id) ?? record };
    } catch (error) {
      return { waitsFor: machineTrouble(error)?.kind ?? null, record };
    }
  }

  #waitingFor(place: Place): Waiting[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.place === place && !this.#attempts.has(entry.recording.id))
      .map(({ waiting }) => waiting);
  }

  #holding(place: Place): Attempt[] {
    return [...this.#attempts.values()].filter((attempt) => attempt.place === place);
  }

  /** Returns the attempts that hold a slot and are not about to leave it. */
  #staying(): Attempt[] {
    return this.#holding("slot").filter(({ controller }) => !controller.signal.aborted);
  }

  /** Suspends recordings of accounts that hold more than their share of the slots while another account's waits. */
  #shareSlots(): void {
    const nextToLeave = () =>
      ifPossible(() => holderToSuspend(this.#staying(), this.#waitingFor("slot"), this.#rules.slot)) ?? null;
    for (let holder = nextToLeave(); holder !== null; holder = nextToLeave()) {
      suspend(holder, SHARING_GRACE_MILLISECONDS);
    }
  }

  /**
   * Handles recordings that were ended in the database, by a command or a request: work in progress is aborted, and
   * waiting recordings are cleaned up without a slot. The queue itself calls this every second.
   */
  followCommands(): void {
    for (const entry of this.#endedByCommand()) {
      const { recording } = entry;
      const attempt = this.#attempts.get(recording.id);
      if (attempt === undefined) void this.#attempt(entry, null);
      else {
        attempt.controller.abort(new RecordingEndedError());
        endGrace(attempt);
      }
    }
  }

  /** Adds the reruns that a command or a request has created. */
  #addReruns(): void {
    const isNew = ({ id }: Recording) => !this.#entries.has(id) && !this.#stalled.has(id);
    const added = ifPossible(() => this.#options.recordings.reruns.open().filter(isNew)) ?? [];
    if (added.length === 0) return;
    this.#fillSlotsAfter(() => {
      for (const rerun of added) this.#add(rerun);
    });
  }

  #endedByCommand(): Entry[] {
    try {
      const isOpen = this.#options.recordings.open.areOpen([...this.#entries.keys()]);
      return [...this.#entries].filter(([id]) => isOpen.get(id) !== true).map(([, entry]) => entry);
    } catch {
      // If the database cannot be read, nothing is known; the next check reads it.
      return [];
    }
  }
}

/** Runs a use of the database. If the database cannot be read or written now, the next check of the queue repeats it. */
function ifPossible<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    if (machineTrouble(error) === null) throw error;
    return undefined;
  }
}

function suspend({ controller, graceEnd }: Attempt, graceMilliseconds: number): void {
  controller.abort(new SuspendError(graceMilliseconds, graceEnd.signal));
}

function endGrace({ graceEnd }: Attempt): void {
  graceEnd.abort();
}
