import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as othersTurn } from "node:timers/promises";
import { isOpen, type Recording } from "../../recordings/index.ts";
import { machineTrouble, machineTroubles, type PlaybackFiles } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { messageOf } from "../../text/index.ts";
import { type ListeningState, noCopy } from "./listening-state.ts";
import { isKept, makeCopy, type Workplace } from "./make-copy.ts";

export interface ListeningOptions extends Workplace {
  /** Returns whether recordings are being processed. They take precedence over copies that nobody requested. */
  readonly isBusy: () => boolean;
  readonly log: Logger;
  readonly now: () => number;
  /** Interval at which to check that the recording whose copy is being made still exists. */
  readonly watchMilliseconds?: number;
}

interface Source {
  readonly status: Recording["status"];
  readonly durationSeconds: number;
  readonly files: PlaybackFiles;
}

interface Making {
  readonly id: string;
  readonly controller: AbortController;
  /** Whether a user requested this copy. */
  isAsked: boolean;
  percent: number | null;
}

interface Failed {
  readonly message: string;
  /**
   * Time of the next permitted attempt, in milliseconds since the epoch; infinity if the recording itself is at fault.
   */
  readonly again: number;
}

/**
 * Delay before a retry after a fault of the machine: for a copy that a user requests, and for the missing copies that
 * nobody requested.
 */
const againMilliseconds = { asked: 10_000, missing: 300_000 };

/** The reason of an abort that lets another copy be made before this one. */
class OthersFirstError extends Error {
  override readonly name = "OthersFirstError";
}

/**
 * Makes playback copies of recordings for browsers; see makeListeningCopy. One copy is made at a time. Copies that a
 * user requests come first, in the order of the requests, even while recordings are processed. All other missing copies
 * are made newest first, only while no recording is processed. The missing copies can be determined from the disk, so
 * no state is lost with this object.
 */
export class ListeningCopies {
  readonly #options: ListeningOptions;
  readonly #asked: string[] = [];
  /** Ids of recordings without a copy; the last one is made next. */
  #missing: string[] = [];
  readonly #failed = new Map<string, Failed>();
  /**
   * Time until which missing copies are not attempted after a fault of the machine, in milliseconds since the epoch.
   */
  #restUntil = 0;
  #making: Making | null = null;
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** Returns the status of a recording's copy. */
  look(id: string): ListeningState {
    const source = this.#sourceOf(id);
    if (typeof source === "string") return { state: "none", message: noCopy[source] };
    if (areThere(source.files)) return { state: "ready", files: source.files };
    if (this.#making?.id === id) return { state: "making", percent: this.#making.percent };
    if (this.#asked.includes(id)) return { state: "making", percent: null };
    const failed = this.#failed.get(id);
    return failed === undefined
      ? { state: "none", message: noCopy.absent }
      : { state: "failed", message: failed.message };
  }

  /**
   * Requests a recording's copy and returns its status. A missing copy that can be made is queued before all copies
   * that nobody requested. A repeated request keeps its place in the queue.
   */
  ask(id: string): ListeningState {
    if (this.#making?.id === id) this.#making.isAsked = true;
    else if (this.#isLacking(id)) {
      this.#failed.delete(id);
      this.#asked.push(id);
      this.goOn();
    }
    return this.look(id);
  }

  /** Queues the copy of a recording that has completed as the next of the missing copies. */
  add(id: string): void {
    this.#missing.push(id);
    this.goOn();
  }

  /**
   * Queues all missing copies. Call it at the start, and periodically to retry copies that could not be made before.
   */
  async catchUp(): Promise<void> {
    const { dataDirectory } = this.#options;
    const made = new Set(await readdir(dataDirectory.playback));
    const kept = await readdir(dataDirectory.uploads);
    const uploads = new Set(kept);
    for (const id of this.#failed.keys()) if (!uploads.has(id)) this.#failed.delete(id);
    // Ids sort by age.
    this.#missing = kept.filter((id) => !made.has(id) && this.#mayTry(id)).sort();
    this.goOn();
  }

  /**
   * Starts the next copy if none is being made. A copy that nobody requested is aborted in favour of a requested one.
   */
  goOn(): void {
    if (this.#isStopped) return;
    if (this.#making !== null) {
      if (!this.#making.isAsked && this.#asked.length > 0) this.#making.controller.abort(new OthersFirstError());
      return;
    }
    const asked = this.#asked.shift();
    const id = asked ?? this.#nextMissing();
    if (id === undefined) return;
    const making = { id, controller: new AbortController(), isAsked: asked !== undefined, percent: null };
    this.#making = making;
    this.#work = this.#make(making).finally(() => {
      this.#making = null;
      this.goOn();
    });
  }

  /** Stops making copies and aborts the copy in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#making?.controller.abort(new Error("the server is stopping"));
    await this.#work;
  }

  #nextMissing(): string | undefined {
    if (this.#missing.length === 0 || this.#options.now() < this.#restUntil || this.#isBusy()) return undefined;
    return this.#missing.pop();
  }

  /** Returns true also if the database cannot be read; the next check queries it again. */
  #isBusy(): boolean {
    try {
      return this.#options.isBusy();
    } catch {
      return true;
    }
  }

  /** Returns false also if the database cannot be read; the next check queries it again. */
  #isGone(id: string): boolean {
    try {
      return !isKept(this.#options, id);
    } catch {
      return false;
    }
  }

  /** Returns whether a copy can be made that is missing and not in the queue. */
  #isLacking(id: string): boolean {
    const source = this.#sourceOf(id);
    if (this.#isStopped || typeof source === "string" || areThere(source.files)) return false;
    return !this.#asked.includes(id) && this.#mayTry(id);
  }

  #mayTry(id: string): boolean {
    return this.#options.now() >= (this.#failed.get(id)?.again ?? 0);
  }

  async #make(making: Making): Promise<void> {
    const { log, now, watchMilliseconds } = this.#options;
    const { id, controller } = making;
    // Many copies may already exist or may be impossible to make. Yielding here lets other work run between two of
    // them.
    await othersTurn();
    const watch = setInterval(() => this.#abortGone(making), watchMilliseconds ?? 1000);
    const since = now();
    try {
      const durationSeconds = this.#durationOf(making);
      if (durationSeconds === null) return;
      const onShare = (share: number) => {
        making.percent = Math.floor(100 * share);
      };
      await makeCopy(this.#options, { id, durationSeconds }, onShare, controller.signal);
      this.#failed.delete(id);
      log.info({ event: "listening.made", recordingId: id, durationSeconds, milliseconds: now() - since });
    } catch (error) {
      this.#failedWith(making, error);
    } finally {
      clearInterval(watch);
    }
  }

  /** Returns the copy's source and the paths of its files, or the reason why there can be no copy. */
  #sourceOf(id: string): Source | Exclude<keyof typeof noCopy, "absent"> {
    const { recordings, dataDirectory } = this.#options;
    const recording = recordings.get(id);
    if (recording === null) return "unknown";
    const { status, durationSeconds } = recording;
    if (isOpen(status)) return "open";
    const { upload, playback } = dataDirectory.filesOf(id);
    if (!existsSync(upload)) return "gone";
    if (durationSeconds === null) return "silent";
    return { status, durationSeconds, files: playback };
  }

  /** Returns the recording's duration; null if no copy of it is to be made. */
  #durationOf({ id, isAsked }: Making): number | null {
    const source = this.#sourceOf(id);
    if (typeof source === "string" || areThere(source.files)) return null;
    // A failed recording has no transcript to follow, so its copy is made only on request.
    return isAsked || source.status === "completed" ? source.durationSeconds : null;
  }

  #failedWith({ id, controller, isAsked }: Making, error: unknown): void {
    const { log, now } = this.#options;
    if (this.#isStopped) return;
    if (controller.signal.reason instanceof OthersFirstError) {
      this.#missing.push(id);
      return;
    }
    if (this.#isGone(id)) return;
    const trouble = machineTrouble(error);
    const detail = trouble?.detail ?? messageOf(error);
    log.warn({ event: "listening.failed", recordingId: id, detail });
    if (trouble !== null && !isAsked) {
      this.#missing.push(id);
      this.#restUntil = now() + againMilliseconds.missing;
      return;
    }
    const why = trouble === null || trouble.kind === "no_room" ? detail : machineTroubles[trouble.kind];
    const again = trouble === null ? Number.POSITIVE_INFINITY : now() + againMilliseconds.asked;
    // Some details already end with a full stop.
    this.#failed.set(id, {
      message: `The recording can't be prepared for listening: ${why.replace(/\.$/, "")}.`,
      again,
    });
  }

  #abortGone({ id, controller }: Making): void {
    if (this.#isGone(id)) controller.abort(new Error("the recording is gone"));
  }
}

function areThere(files: PlaybackFiles): boolean {
  return existsSync(files.audio) && existsSync(files.waveform);
}
