import type { UnexpectedExit } from "../engine/index.ts";
import type { Memory } from "../machine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { memorySize } from "../text/index.ts";

interface MemoryFallbackOptions {
  readonly log: Logger;
  readonly memory: () => Memory;
  /** Returns the memory that a server with these settings needs, in bytes. */
  readonly need: () => number;
  /** Called when the workers are to be replaced, because as many operations as before may run at once again. */
  readonly onEnd: () => void;
  /** Current time in milliseconds, from an arbitrary origin. */
  readonly now: () => number;
}

/**
 * How long one operation runs at once after the kernel killed a worker. Then the usual number is tried again, because
 * other programs may have needed the memory: each attempt costs at most one chunk of work.
 */
const FALLBACK_MILLISECONDS = 60 * 60_000;

/** Interval of the checks whether the time is over or the limit was raised. */
const CHECK_MILLISECONDS = 60_000;

/**
 * Fallback for too little memory. After the kernel has killed a worker, one worker runs one operation at once, because
 * each needs working memory of its own. It ends after an hour, when the limit was raised, or with the program.
 */
export class MemoryFallback {
  readonly #options: MemoryFallbackOptions;
  /** The time of the last kill, and the memory at that time; null when no fallback is active. */
  #active: { readonly since: number; readonly totalBytes: number } | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryFallbackOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#active !== null;
  }

  /** Handles the end of a worker. */
  after(exit: UnexpectedExit): void {
    if (exit.killedForMemory !== true) return;
    const { log, memory, now } = this.#options;
    if (this.#active === null) {
      log.warn({ event: "engine.one_operation_at_once", reason: `the kernel ended a worker: ${this.shortage()}` });
    }
    this.#active = { since: now(), totalBytes: memory().totalBytes };
    this.#timer ??= setInterval(() => this.check(), CHECK_MILLISECONDS).unref();
  }

  /** Ends the fallback if it is time. */
  check(): void {
    const { memory, now, log, onEnd } = this.#options;
    if (this.#active === null) return;
    const isOver = now() - this.#active.since >= FALLBACK_MILLISECONDS;
    if (!isOver && memory().totalBytes <= this.#active.totalBytes) return;
    this.close();
    log.info({ event: "engine.usual_operations_at_once" });
    onEnd();
  }

  /** Returns the memory that there is and that is needed, for people. */
  shortage(): string {
    const { memory, need } = this.#options;
    const { limitBytes, totalBytes } = memory();
    const there =
      limitBytes === null
        ? `memory of the machine ${memorySize(totalBytes)}`
        : `memory limit ${memorySize(limitBytes)}`;
    return `${there}, needed about ${memorySize(need())}`;
  }

  /** Returns a warning if there is less memory than the settings need; null otherwise. */
  warning(): string | null {
    return this.#options.memory().totalBytes < this.#options.need() ? this.shortage() : null;
  }

  /** Ends the fallback without a call of `onEnd`. */
  close(): void {
    this.#active = null;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
