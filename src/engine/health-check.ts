import type { Params } from "../operations/index.ts";
import { messageOf } from "../text/index.ts";
import type { Engine } from "./engine.ts";

interface HealthCheckOptions {
  readonly engine: Pick<Engine, "run" | "status">;
  /** Path of the speech model in use. */
  readonly model: () => string;
  /** Current time in milliseconds, from an arbitrary origin. */
  readonly now: () => number;
  /** How long a self-test result stays valid. */
  readonly validMilliseconds?: number;
  /** How long an idle worker may take to answer. */
  readonly answerMilliseconds?: number;
}

/** Maximum share of the time that self-tests of the speech model take. */
const SPEECH_SHARE = 0.02;

const never = new AbortController().signal;

/**
 * Checks whether the worker can process operations, on the same path as recordings. A busy worker is judged by the
 * progress of its operations. An idle one runs silence through its models: through the small segmentation model every
 * few seconds, through the speech model so rarely that nobody notices.
 */
export class HealthCheck {
  readonly #options: Required<HealthCheckOptions>;
  /** The self-test of the segmentation model that is running. */
  #running: Promise<void> | null = null;
  #testedAt = Number.NEGATIVE_INFINITY;
  #trouble: string | null = null;
  readonly #speech = { isRunning: false, startedAt: Number.NEGATIVE_INFINITY, milliseconds: 0 };
  #speechTrouble: string | null = null;

  constructor(options: HealthCheckOptions) {
    this.#options = { validMilliseconds: 5000, answerMilliseconds: 3000, ...options };
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
    const { engine, now, validMilliseconds } = this.#options;
    const { state, trouble, busy } = engine.status();
    // A sleeping worker is woken for a self-test only when it has a known problem, to check whether that still exists.
    const canTest = state === "ready" || (state === "asleep" && this.known() !== null);
    if (!canTest || trouble !== null) return this.known();
    const isOld = now() - this.#testedAt >= validMilliseconds;
    if (this.#running !== null || (!busy && isOld)) {
      await this.#answer();
    } else if (busy) {
      // The worker is processing operations, so the last self-test no longer counts.
      this.#trouble = null;
      if (this.#speechTrouble !== null) this.#testSpeechIfDue();
    }
    return this.known();
  }

  /** Waits for a self-test, but only for a limited time. */
  async #answer(): Promise<void> {
    const { answerMilliseconds } = this.#options;
    this.#running ??= this.#test();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#trouble = `the worker does not answer: a self-test did not finish within ${answerMilliseconds / 1000} s`;
      late.resolve();
    }, answerMilliseconds);
    await Promise.race([this.#running, late.promise]);
    clearTimeout(timer);
  }

  async #test(): Promise<void> {
    this.#trouble = await this.#troubleOf(() => ({}));
    if (this.#trouble === null) this.#testSpeechIfDue();
    this.#testedAt = this.#options.now();
    this.#running = null;
  }

  /**
   * Starts a self-test of the speech model without waiting for it: a large model takes seconds on a CPU, and the worker
   * counts as busy.
   */
  #testSpeechIfDue(): void {
    const { startedAt, milliseconds, isRunning } = this.#speech;
    const pause = this.#speechTrouble === null ? milliseconds / SPEECH_SHARE : this.#options.validMilliseconds;
    if (!isRunning && this.#options.now() - startedAt >= pause) void this.#testSpeech();
  }

  async #testSpeech(): Promise<void> {
    const { model, now } = this.#options;
    const startedAt = now();
    Object.assign(this.#speech, { isRunning: true, startedAt });
    this.#speechTrouble = await this.#troubleOf(() => ({ model: model() }));
    Object.assign(this.#speech, { isRunning: false, milliseconds: now() - startedAt });
  }

  /** Runs a self-test. @returns its error, or null when it passed */
  async #troubleOf(params: () => Params<"selfTest">): Promise<string | null> {
    try {
      await this.#options.engine.run("selfTest", params(), never);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }
}
