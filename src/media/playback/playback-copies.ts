import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Recording } from "../../database/index.ts";
import { machineTrouble, machineTroubles } from "../../disk/index.ts";
import { isOpen } from "../../recordings/index.ts";
import type { PlaybackFiles } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { messageOf } from "../../text/index.ts";
import { type CopyResources, type CopySource, isStored, makeCopy } from "./make-copy.ts";

/** Status of a recording's playback copy. Messages can be shown to users unchanged. */
export type PlaybackState =
  | { readonly state: "ready"; readonly files: PlaybackFiles }
  /** `percent` is null before the copy has started. */
  | { readonly state: "making"; readonly percent: number | null }
  | { readonly state: "none"; readonly message: string }
  | { readonly state: "failed"; readonly message: string };

const NO_COPY = {
  unknown: "There is no such recording.",
  open: "The recording can be played when it is completed.",
  silent: "No audio of the recording could be decoded, so there is nothing to play.",
  removed:
    "The recording's audio is no longer stored, so it can't be played; retention.audio_days sets for how long it is stored.",
  absent: "The recording has not been prepared for playback.",
} as const;

export interface PlaybackOptions extends CopyResources {
  /** Returns whether recordings are being processed. They take precedence over copies that nobody requested. */
  readonly isBusy: () => boolean;
  readonly log: Logger;
  readonly now: () => number;
  /** Interval at which to check that the recording whose copy is being made still exists. */
  readonly watchMilliseconds?: number;
}

interface Source extends CopySource {
  readonly status: Recording["status"];
  readonly files: PlaybackFiles;
}

interface CurrentCopy {
  readonly id: string;
  readonly controller: AbortController;
  isRequested: boolean;
  percent: number | null;
}

interface FailedCopy {
  readonly message: string;
  /** Earliest time of the next attempt, in milliseconds since the epoch; infinite if the recording is at fault. */
  readonly retryAt: number;
}

/** Delay before a retry after a fault of the machine. */
const RETRY_MILLISECONDS = { requested: 10_000, missing: 300_000 };

/** The reason of an abort that lets a requested copy be made first. */
class PreemptedError extends Error {
  override readonly name = "PreemptedError";
}

/**
 * Makes playback copies of recordings for browsers, one at a time; see encodeCopy. Copies that a user requests come
 * first, in the order of the requests, even while recordings are processed. All other missing copies are made newest
 * first, only while no recording is processed. They are determined from the disk, so no state is lost with this object.
 */
export class PlaybackCopies {
  readonly #options: PlaybackOptions;
  readonly #requested: string[] = [];
  /** Ids of recordings without a copy; the last one is made next. */
  #missing: string[] = [];
  readonly #failed = new Map<string, FailedCopy>();
  /** Time until which missing copies are not attempted after a fault of the machine. */
  #pausedUntil = 0;
  #current: CurrentCopy | null = null;
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: PlaybackOptions) {
    this.#options = options;
  }

  /** Returns the status of a recording's copy. */
  async stateOf(id: string): Promise<PlaybackState> {
    const source = await this.#sourceOf(id);
    if (typeof source === "string") return { state: "none", message: NO_COPY[source] };
    if (areComplete(source.files)) return { state: "ready", files: source.files };
    if (this.#current?.id === id) return { state: "making", percent: this.#current.percent };
    if (this.#requested.includes(id)) return { state: "making", percent: null };
    const failed = this.#failed.get(id);
    if (failed !== undefined) return { state: "failed", message: failed.message };
    return { state: "none", message: NO_COPY.absent };
  }

  /**
   * Requests a recording's copy and returns its status. A missing copy that can be made is queued before all copies
   * that nobody requested. A repeated request does not change the place in the queue.
   */
  async request(id: string): Promise<PlaybackState> {
    const canMake = this.#current?.id !== id && (await this.#canMake(id));
    if (this.#current?.id === id) this.#current.isRequested = true;
    else if (canMake && !this.#requested.includes(id)) {
      this.#failed.delete(id);
      this.#requested.push(id);
      this.startNext();
    }
    return await this.stateOf(id);
  }

  /** Queues the copy of a recording that has completed as the next of the missing copies. */
  enqueue(id: string): void {
    this.#missing.push(id);
    this.startNext();
  }

  /** Queues all missing copies. Call it at the start, and periodically to retry copies that failed before. */
  async enqueueMissing(): Promise<void> {
    const { dataDirectory } = this.#options;
    const made = new Set(await readdir(dataDirectory.playback));
    const withAudio = await dataDirectory.audio.list();
    const stored = new Set(withAudio);
    for (const id of this.#failed.keys()) if (!stored.has(id)) this.#failed.delete(id);
    // Ids sort by age.
    this.#missing = withAudio.filter((id) => !made.has(id) && this.#mayTry(id)).sort();
    this.startNext();
  }

  /** Starts the next copy if none is being made. A requested copy preempts one that nobody requested. */
  startNext(): void {
    if (this.#isStopped) return;
    if (this.#current !== null) {
      if (!this.#current.isRequested && this.#requested.length > 0)
        this.#current.controller.abort(new PreemptedError());
      return;
    }
    const requested = this.#requested.shift();
    const id = requested ?? this.#nextMissing();
    if (id === undefined) return;
    const copy = { id, controller: new AbortController(), isRequested: requested !== undefined, percent: null };
    this.#current = copy;
    this.#work = this.#make(copy).finally(() => {
      this.#current = null;
      this.startNext();
    });
  }

  /** Stops making copies and aborts the copy in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#current?.controller.abort(new Error("the server is stopping"));
    await this.#work;
  }

  #nextMissing(): string | undefined {
    if (this.#missing.length === 0 || this.#options.now() < this.#pausedUntil) return undefined;
    try {
      return this.#options.isBusy() ? undefined : this.#missing.pop();
    } catch {
      // The database cannot be read now; the next check reads it again.
      return undefined;
    }
  }

  async #isRemoved(id: string): Promise<boolean> {
    return !(await isStored(this.#options, id).catch(() => true));
  }

  /** Returns whether a copy can be made that is missing. */
  async #canMake(id: string): Promise<boolean> {
    const source = await this.#sourceOf(id);
    if (this.#isStopped || typeof source === "string" || areComplete(source.files)) return false;
    return this.#mayTry(id);
  }

  #mayTry(id: string): boolean {
    return this.#options.now() >= (this.#failed.get(id)?.retryAt ?? 0);
  }

  async #make(copy: CurrentCopy): Promise<void> {
    const { log, now, watchMilliseconds = 1000 } = this.#options;
    const { id, controller } = copy;
    // Many copies may already exist or may be impossible to make.
    await yieldToEventLoop();
    const watch = setInterval(async () => {
      if (await this.#isRemoved(id)) controller.abort(new Error("the recording was removed"));
    }, watchMilliseconds);
    const since = now();
    try {
      const source = await this.#sourceToCopy(copy);
      if (source === null) return;
      const { durationSeconds } = source;
      const onShare = (share: number) => {
        copy.percent = Math.floor(100 * share);
      };
      await makeCopy(this.#options, source, onShare, controller.signal);
      this.#failed.delete(id);
      log.info({ event: "playback.created", recordingId: id, durationSeconds, milliseconds: now() - since });
    } catch (error) {
      await this.#noteFailure(copy, error);
    } finally {
      clearInterval(watch);
    }
  }

  /** Returns the copy's source and the paths of its files, or the reason why there can be no copy. */
  async #sourceOf(id: string): Promise<Source | Exclude<keyof typeof NO_COPY, "absent">> {
    const { recordings, dataDirectory } = this.#options;
    const recording = recordings.get(id);
    if (recording === null) return "unknown";
    const { status, durationSeconds, audioTrack, audioTracks } = recording;
    if (isOpen(status)) return "open";
    if (durationSeconds === null) return "silent";
    const track = audioTracks === 1 ? null : audioTrack;
    const files = dataDirectory.filesOf(id).playbackOf(track).playback;
    // A copy is removed with the audio, so its store need not be asked.
    if (!areComplete(files) && !(await dataDirectory.audio.has(id))) return "removed";
    return { id, status, durationSeconds, track, files };
  }

  /** Returns the source of a copy; null if none is to be made. */
  async #sourceToCopy({ id, isRequested }: CurrentCopy): Promise<Source | null> {
    const source = await this.#sourceOf(id);
    if (typeof source === "string" || areComplete(source.files)) return null;
    // A failed recording has no transcript to follow, so its copy is made only on request.
    return isRequested || source.status === "completed" ? source : null;
  }

  async #noteFailure({ id, controller, isRequested }: CurrentCopy, error: unknown): Promise<void> {
    const { log, now } = this.#options;
    if (this.#isStopped) return;
    if (controller.signal.reason instanceof PreemptedError) {
      this.#missing.push(id);
      return;
    }
    if (await this.#isRemoved(id)) return;
    const fault = machineTrouble(error);
    const detail = fault?.detail ?? messageOf(error);
    log.warn({ event: "playback.failed", recordingId: id, detail });
    if (fault !== null && !isRequested) {
      this.#missing.push(id);
      this.#pausedUntil = now() + RETRY_MILLISECONDS.missing;
      return;
    }
    const reason = fault === null || fault.kind === "no_room" ? detail : machineTroubles[fault.kind];
    this.#failed.set(id, {
      // Some details already end with a full stop.
      message: `The recording can't be prepared for playback: ${reason.replace(/\.$/, "")}.`,
      retryAt: fault === null ? Number.POSITIVE_INFINITY : now() + RETRY_MILLISECONDS.requested,
    });
  }
}

function areComplete(files: PlaybackFiles): boolean {
  return existsSync(files.audio) && existsSync(files.waveform);
}
