import { messageOf } from "../text/index.ts";
import type { Engine } from "./engine.ts";

export interface HealthCheckOptions {
  readonly engine: Pick<Engine, "run" | "status">;
  /** Path of the speech model in use. */
  readonly model: () => string;
  /** Current time in milliseconds, from an arbitrary origin. */
  readonly now: () => number;
  /** How long a self-test result stays valid. */
  readonly holdsMilliseconds?: number;
  /** How long an idle worker may take to answer. */
  readonly patienceMilliseconds?: number;
}

/** Maximum share of the time that self-tests of the speech model take. */
const speechShare = 0.02;

const never = new AbortController().signal;

/**
 * Self-test of the worker, which takes the same path as recordings. A busy worker is judged by the progress of its
 * operations. An idle one runs silence through its models. The small models of speaker diarization are tested every few seconds,
 * the recognizer so rarely that nobody notices.
 */
export class HealthCheck {
  readonly #options: HealthCheckOptions;
  #running: Promise<void> | null = null;
  #trouble: string | null = null;
  #endedAt = Number.NEGATIVE_INFINITY;
  #speechRuns = false;
  #speechTrouble: string | null = null;
  #speechBeganAt = Number.NEGATIVE_INFINITY;
  #speechTook = 0;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
  }

  /**
   * Returns the known reason why the worker cannot process operations; null when there is none. A worker that is asleep
   * or waking is judged by its state before it was put to sleep.
   */
  known(): string | null {
    const { state, trouble } = this.#options.engine.status();
    if (state === "starting" || state === "failing" || state === "closed")
      return trouble ?? "the models are being loaded";
    return trouble ?? this.#trouble ?? this.#speechTrouble;
  }

  /** Returns the same reason, after a new self-test when the last result is too old. */
  async trouble(): Promise<string | null> {
    const { engine, now } = this.#options;
    const { state, trouble, busy } = engine.status();
    // A sleeping worker is woken for a self-test only when it has a known problem, to check whether that still exists.
    const isTried = state === "ready" || (state === "asleep" && this.known() !== null);
    if (!isTried || trouble !== null) return this.known();
    const isOld = now() - this.#endedAt >= this.#holds;
    if (this.#running !== null || (!busy && isOld)) {
      await this.#answer();
    } else if (busy) {
      // The worker is processing operations, so the last self-test no longer counts.
      this.#trouble = null;
      if (this.#speechTrouble !== null) this.#trySpeechWhenDue();
    }
    return this.known();
  }

  get #holds(): number {
    return this.#options.holdsMilliseconds ?? 5000;
  }

  /** Waits for a self-test, but only for a limited time. */
  async #answer(): Promise<void> {
    const { patienceMilliseconds = 3000 } = this.#options;
    this.#running ??= this.#run();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#trouble = `the worker does not answer: a self-test did not finish within ${patienceMilliseconds / 1000} s`;
      late.resolve();
    }, patienceMilliseconds);
    await Promise.race([this.#running, late.promise]);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    try {
      await this.#options.engine.run("selfTest", {}, never);
      this.#trouble = null;
      this.#trySpeechWhenDue();
    } catch (error) {
      this.#trouble = messageOf(error);
    }
    this.#endedAt = this.#options.now();
    this.#running = null;
  }

  /**
   * Starts a self-test of the recognizer without waiting for it: a large model takes seconds on a CPU, and the worker counts
   * as busy.
   */
  #trySpeechWhenDue(): void {
    const wait = this.#speechTrouble === null ? this.#speechTook / speechShare : this.#holds;
    if (!this.#speechRuns && this.#options.now() - this.#speechBeganAt >= wait) void this.#trySpeech();
  }

  async #trySpeech(): Promise<void> {
    const { engine, model, now } = this.#options;
    this.#speechRuns = true;
    this.#speechBeganAt = now();
    try {
      await engine.run("selfTest", { model: model() }, never);
      this.#speechTrouble = null;
    } catch (error) {
      this.#speechTrouble = messageOf(error);
    }
    this.#speechTook = now() - this.#speechBeganAt;
    this.#speechRuns = false;
  }
}
