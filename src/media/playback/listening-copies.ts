import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as othersTurn } from "node:timers/promises";
import { isOpen, type Recording } from "../../recordings/index.ts";
import { machineTrouble, machineTroubles } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { messageOf } from "../../text/index.ts";
import { areThere, type CopyFiles, copyFilesIn } from "./copy-files.ts";
import { type ListeningState, noCopy } from "./listening-state.ts";
import { isKept, makeCopy, type Workplace } from "./make-copy.ts";

export interface ListeningOptions extends Workplace {
  /** Whether recordings are in hand, which go first. */
  readonly isBusy: () => boolean;
  readonly log: Logger;
  readonly now: () => number;
  /** How often to check that the recording is still kept whose copy is being made. */
  readonly watchMilliseconds?: number;
}

interface Source {
  readonly status: Recording["status"];
  readonly durationSeconds: number;
  readonly files: CopyFiles;
}

interface Making {
  readonly id: string;
  readonly controller: AbortController;
  /** Somebody waits for it. */
  isAsked: boolean;
  percent: number | null;
}

interface Failed {
  readonly message: string;
  /** When it may be tried again, in milliseconds since the epoch; never, where the recording is at fault. */
  readonly again: number;
}

/** How soon to try again what the machine could not make: a copy that somebody asks for, and those that nobody does. */
const againMilliseconds = { asked: 10_000, missing: 300_000 };

/** Another copy is to be made first, and this one after it. */
class OthersFirstError extends Error {
  override readonly name = "OthersFirstError";
}

/**
 * Copies of recordings for browsers to play; see makeListeningCopy. One is made at a time: first those that somebody opens, in
 * their order, whatever else goes on; the others, newest first, when no recording is in hand. Which are missing can be seen on
 * the disk, so that nothing is lost with this object.
 */
export class ListeningCopies {
  readonly #options: ListeningOptions;
  readonly #asked: string[] = [];
  /** Made from the end on. */
  #missing: string[] = [];
  readonly #failed = new Map<string, Failed>();
  /** Until when the machine can't make those that are missing, in milliseconds since the epoch. */
  #restUntil = 0;
  #making: Making | null = null;
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** How a recording's copy stands. */
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

  /** The same, and has it made before all that nobody asked for, if it is not there and can be. Asked again, it keeps its place. */
  ask(id: string): ListeningState {
    if (this.#making?.id === id) this.#making.isAsked = true;
    else if (this.#isLacking(id)) {
      this.#failed.delete(id);
      this.#asked.push(id);
      this.goOn();
    }
    return this.look(id);
  }

  /** A recording has completed: its copy is made next. */
  add(id: string): void {
    this.#missing.push(id);
    this.goOn();
  }

  /** Has those made that are missing. Call it at the start, and now and then for what could not be made before. */
  async catchUp(): Promise<void> {
    const { dataDirectory } = this.#options;
    const made = new Set(await readdir(dataDirectory.listening));
    const kept = await readdir(dataDirectory.uploads);
    const uploads = new Set(kept);
    for (const id of this.#failed.keys()) if (!uploads.has(id)) this.#failed.delete(id);
    // Ids sort by age.
    this.#missing = kept.filter((id) => !made.has(id) && this.#mayTry(id)).sort();
    this.goOn();
  }

  /** Begins with the next one, if it is time. */
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

  /** Makes no more, and gives up what it is at. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#making?.controller.abort(new Error("the server is stopping"));
    await this.#work;
  }

  #nextMissing(): string | undefined {
    if (this.#missing.length === 0 || this.#options.now() < this.#restUntil || this.#isBusy()) return undefined;
    return this.#missing.pop();
  }

  /** A database that can't be read says nothing; the next look will. */
  #isBusy(): boolean {
    try {
      return this.#options.isBusy();
    } catch {
      return true;
    }
  }

  /** A database that can't be read says nothing; the next look will. */
  #isGone(id: string): boolean {
    try {
      return !isKept(this.#options, id);
    } catch {
      return false;
    }
  }

  /** Whether a copy is to be made of it that is not there, and not in line. */
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
    // Many may be there already, or can't be made: others get their turn between two of them.
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

  /** What a copy is made of, and where it lies; else why there can be none. */
  #sourceOf(id: string): Source | Exclude<keyof typeof noCopy, "absent"> {
    const { recordings, dataDirectory } = this.#options;
    const recording = recordings.get(id);
    if (recording === null) return "unknown";
    const { status, durationSeconds } = recording;
    if (isOpen(status)) return "open";
    if (!existsSync(dataDirectory.uploadPath(id))) return "gone";
    if (durationSeconds === null) return "silent";
    return { status, durationSeconds, files: copyFilesIn(dataDirectory.listeningDirectory(id)) };
  }

  /** How long the recording is; null where no copy of it is to be made. */
  #durationOf({ id, isAsked }: Making): number | null {
    const source = this.#sourceOf(id);
    if (typeof source === "string" || areThere(source.files)) return null;
    // A recording that failed has no transcript to follow: its copy is made only when somebody asks.
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
    // Some are sentences already.
    this.#failed.set(id, {
      message: `The recording can't be prepared for listening: ${why.replace(/\.$/, "")}.`,
      again,
    });
  }

  #abortGone({ id, controller }: Making): void {
    if (this.#isGone(id)) controller.abort(new Error("the recording is gone"));
  }
}
