import type { OperationName, Params } from "../operations/index.ts";
import { orAborted } from "../text/index.ts";
import { yieldToEventLoop } from "./concurrency.ts";
import { type StepEngine, withRun } from "./step.ts";

/** Numbers of operations that a recording has requested. */
interface Requested {
  urgent: number;
  patient: number;
}

/**
 * The lanes that a recording leaves unused, for operations that its next step does not wait for. Speech detection ends
 * with one block, and the vote on the language continues chunk by chunk: the other lanes would be idle meanwhile. Next to
 * a GPU, the recognizer's lanes are idle during all of speech detection, so they are counted separately.
 */
export class SpareLanes {
  /** The engine for operations that the next step waits for. */
  readonly urgent: StepEngine;
  /**
   * The engine for the others. They start while the recording requests fewer operations than can run at once, and leave
   * one lane to the urgent ones.
   */
  readonly patient: StepEngine;
  readonly #engine: StepEngine;
  readonly #shared: Requested = { urgent: 0, patient: 0 };
  readonly #recognizer: Requested = { urgent: 0, patient: 0 };
  #isReleased = false;
  #changed = Promise.withResolvers<void>();

  constructor(engine: StepEngine) {
    this.#engine = engine;
    this.urgent = withRun(engine, (...request) => {
      const requested = this.#requestedLike(request[1]);
      requested.urgent += 1;
      return this.#untilDone(requested, "urgent", () => engine.run(...request));
    });
    this.patient = this.patientOf(engine);
  }

  /** Returns the engine for patient operations that run on another engine, which runs them on this one. */
  patientOf(engine: StepEngine): StepEngine {
    return withRun(engine, async (...request) => {
      const [, params, signal] = request;
      const requested = await this.#reserve(params, signal);
      return await this.#untilDone(requested, "patient", () => engine.run(...request));
    });
  }

  /** Lets the patient operations take turns with the urgent ones from now on. */
  release(): void {
    this.#isReleased = true;
    this.#change();
  }

  /** Waits for a spare lane, and counts the patient operation that will use it. */
  async #reserve(params: Params<OperationName>, signal: AbortSignal): Promise<Requested> {
    // A step requests its next operation as soon as it has the result of another. That one goes first.
    await yieldToEventLoop(signal);
    const requested = this.#requestedLike(params);
    while (!this.#hasSpare(requested)) await orAborted(this.#changed.promise, signal);
    // Counted before another waiting operation can look at the same lane.
    requested.patient += 1;
    return requested;
  }

  /** Returns the operations that use the same lanes as an operation with these parameters. */
  #requestedLike(params: Params<OperationName>): Requested {
    return "model" in params && this.#recognizerLanes > 0 ? this.#recognizer : this.#shared;
  }

  #hasSpare(requested: Requested): boolean {
    const { urgent, patient } = requested;
    const lanes = requested === this.#recognizer ? this.#recognizerLanes : this.#engine.partsAtOnce;
    return this.#isReleased || (urgent + patient < lanes && patient < Math.max(1, lanes - 1));
  }

  get #recognizerLanes(): number {
    return this.#engine.recognizerLanes ?? 0;
  }

  async #untilDone<T>(requested: Requested, kind: keyof Requested, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } finally {
      requested[kind] -= 1;
      setImmediate(() => this.#change());
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
