import { messageOf } from "../text/index.ts";
import type { Engine } from "./engine.ts";

export interface TrialOptions {
  readonly engine: Pick<Engine, "run" | "status">;
  /** Path of the whisper model in use. */
  readonly model: () => string;
  /** In milliseconds, from any beginning. */
  readonly now: () => number;
  /** How long an answer holds. */
  readonly holdsMilliseconds?: number;
  /** How long an idle worker may take to answer. */
  readonly patienceMilliseconds?: number;
}

/** A trial of the whisper model costs at most this share of the time. */
const speechShare = 0.02;

const never = new AbortController().signal;

/**
 * Whether the worker can do what it is there for, by the way that recordings go. One that has work is judged by how that goes;
 * an idle one has to put silence through its models: through the small ones every few seconds, through whisper so seldom that
 * nobody notices.
 */
export class Trial {
  readonly #options: TrialOptions;
  #running: Promise<void> | null = null;
  #trouble: string | null = null;
  #endedAt = Number.NEGATIVE_INFINITY;
  #speechRuns = false;
  #speechTrouble: string | null = null;
  #speechBeganAt = Number.NEGATIVE_INFINITY;
  #speechTook = 0;

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  /**
   * What keeps the worker from its work, as far as is known; null when nothing does. One that sleeps, or is being woken, is as
   * able to work as it was when it was put to sleep.
   */
  known(): string | null {
    const { state, trouble } = this.#options.engine.status();
    if (state === "starting" || state === "failing" || state === "closed")
      return trouble ?? "the models are being loaded";
    return trouble ?? this.#trouble ?? this.#speechTrouble;
  }

  /** The same, found out anew where the last answer is old. */
  async trouble(): Promise<string | null> {
    const { engine, now } = this.#options;
    const { state, trouble, busy } = engine.status();
    // One that sleeps is woken to find out whether what was the matter with it still is, and let sleep where nothing was.
    const isTried = state === "ready" || (state === "asleep" && this.known() !== null);
    if (!isTried || trouble !== null) return this.known();
    const isOld = now() - this.#endedAt >= this.#holds;
    if (this.#running !== null || (!busy && isOld)) {
      await this.#answer();
    } else if (busy) {
      // It works: what the last trial said counts no more.
      this.#trouble = null;
      if (this.#speechTrouble !== null) this.#trySpeechWhenDue();
    }
    return this.known();
  }

  get #holds(): number {
    return this.#options.holdsMilliseconds ?? 5000;
  }

  /** Waits for a trial, but not for long. */
  async #answer(): Promise<void> {
    const { patienceMilliseconds = 3000 } = this.#options;
    this.#running ??= this.#run();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#trouble = `the worker does not answer: a trial has not ended after ${patienceMilliseconds / 1000} s`;
      late.resolve();
    }, patienceMilliseconds);
    await Promise.race([this.#running, late.promise]);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    try {
      await this.#options.engine.run("tryOut", {}, never);
      this.#trouble = null;
      this.#trySpeechWhenDue();
    } catch (error) {
      this.#trouble = messageOf(error);
    }
    this.#endedAt = this.#options.now();
    this.#running = null;
  }

  /** Nobody waits for it: with a large model on a CPU it takes seconds, in which the worker counts as one that has work. */
  #trySpeechWhenDue(): void {
    const wait = this.#speechTrouble === null ? this.#speechTook / speechShare : this.#holds;
    if (!this.#speechRuns && this.#options.now() - this.#speechBeganAt >= wait) void this.#trySpeech();
  }

  async #trySpeech(): Promise<void> {
    const { engine, model, now } = this.#options;
    this.#speechRuns = true;
    this.#speechBeganAt = now();
    try {
      await engine.run("tryOut", { model: model() }, never);
      this.#speechTrouble = null;
    } catch (error) {
      this.#speechTrouble = messageOf(error);
    }
    this.#speechTook = now() - this.#speechBeganAt;
    this.#speechRuns = false;
  }
}
