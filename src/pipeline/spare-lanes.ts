import type { OperationName, Params, Result } from "../engine/index.ts";
import { orAborted } from "../text/index.ts";
import { yieldToEventLoop } from "./concurrency.ts";
import type { StepEngine } from "./step.ts";

/**
 * The lanes that a recording leaves unused, for operations that its next step does not wait for. Speech detection ends
 * with one block, and the vote on the language continues chunk by chunk: the other lanes would be idle meanwhile.
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
  readonly #requested = { urgent: 0, patient: 0 };
  #isReleased = false;
  #changed = Promise.withResolvers<void>();

  constructor(engine: StepEngine) {
    this.#engine = engine;
    this.urgent = withRun(engine, (...request) => this.#run("urgent", request));
    this.patient = withRun(engine, async (...request) => {
      const [, , signal] = request;
      await this.#untilSpare(signal);
      return await this.#run("patient", request);
    });
  }

  /** Lets the patient operations take turns with the urgent ones from now on. */
  release(): void {
    this.#isReleased = true;
    this.#change();
  }

  async #untilSpare(signal: AbortSignal): Promise<void> {
    // A step requests its next operation as soon as it has the result of another. That one goes first.
    await yieldToEventLoop(signal);
    while (!this.#hasSpare()) await orAborted(this.#changed.promise, signal);
  }

  #hasSpare(): boolean {
    const { urgent, patient } = this.#requested;
    const lanes = this.#engine.partsAtOnce;
    return this.#isReleased || (urgent + patient < lanes && patient < Math.max(1, lanes - 1));
  }

  async #run<N extends OperationName>(kind: "urgent" | "patient", request: Request<N>): Promise<Result<N>> {
    this.#requested[kind] += 1;
    try {
      return await this.#engine.run(...request);
    } finally {
      this.#requested[kind] -= 1;
      setImmediate(() => this.#change());
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

type Request<N extends OperationName> = [
  operation: N,
  params: Params<N>,
  signal: AbortSignal,
  record?: Parameters<StepEngine["run"]>[3],
];

function withRun(
  engine: StepEngine,
  run: <N extends OperationName>(...request: Request<N>) => Promise<Result<N>>,
): StepEngine {
  return {
    get partsAtOnce() {
      return engine.partsAtOnce;
    },
    run,
  };
}
