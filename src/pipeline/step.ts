import type { Recording } from "../database/index.ts";
import type { Engine } from "../engine/index.ts";
import { MediaError } from "../media/index.ts";
import type { OperationName, Params, Result } from "../operations/index.ts";
import type { Checkpoints, Failure } from "../recordings/index.ts";
import type { RecordingFiles } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { forEachConcurrently } from "./concurrency.ts";

/** The part of the engine that the steps of a recording use. A fleet has no lanes of the recognizer alone. */
export type StepEngine = Pick<Engine, "run" | "partsAtOnce"> & Partial<Pick<Engine, "recognizerLanes">>;

/** The arguments of an engine's `run`. */
type EngineRequest<N extends OperationName> = [
  operation: N,
  params: Params<N>,
  signal: AbortSignal,
  record?: Parameters<StepEngine["run"]>[3],
];

/** Returns an engine with the lanes of another one and its own `run`. */
export function withRun(
  engine: StepEngine,
  run: <N extends OperationName>(...request: EngineRequest<N>) => Promise<Result<N>>,
): StepEngine {
  return {
    get partsAtOnce() {
      return engine.partsAtOnce;
    },
    get recognizerLanes() {
      return engine.recognizerLanes ?? 0;
    },
    run,
  };
}

/** The context of a step. A step does only the work that its checkpoints lack, so it can be run again at any time. */
export interface StepContext {
  readonly recording: Recording;
  readonly files: RecordingFiles;
  readonly checkpoints: Checkpoints;
  readonly engine: StepEngine;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Reports the progress of this step, from 0 to 1; null if it cannot be measured. */
  readonly progress: (fraction: number | null) => void;
}

/** Returns a step's context for the part of its work between two shares of the whole step. */
export function partOfStep<C extends StepContext>(context: C, from: number, to: number): C {
  const progress = (fraction: number | null) =>
    context.progress(fraction === null ? null : from + (to - from) * fraction);
  return { ...context, progress };
}

/** An error of a step that ends the recording as `failed` with this failure. */
export class RecordingFailure extends Error {
  override readonly name = "RecordingFailure";

  constructor(
    readonly failure: Failure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Returns the failure that a fault of the recording's file or link causes: `no_speech` for a file without decodable
 * audio, else `internal`. Returns any other error unchanged.
 */
export function withMediaFailure(error: unknown): unknown {
  if (!(error instanceof MediaError)) return error;
  const { fault, message } = error;
  const failure: Failure = fault === "not_a_recording" ? { reason: "no_speech" } : { reason: "internal", cause: fault };
  return new RecordingFailure(failure, message, { cause: error });
}

/** Creates the failure of a recording whose account has used its allowance for the day. */
export function quotaExceeded(): RecordingFailure {
  return new RecordingFailure({ reason: "quota_exceeded" }, "the account has no allowance left today");
}

/**
 * Runs the missing parts of a step, in order, with as many at once as the engine allows; a step has at least one part.
 * After a failure it starts no further part and waits for the running ones.
 * @param doPart runs one part and writes its checkpoint
 * @param isIntact returns whether the files of a finished part are complete; omitted if checkpoints hold all results
 */
export async function forEachMissingPart(
  context: StepContext,
  step: string,
  parts: number,
  doPart: (part: number) => Promise<void>,
  isIntact: (part: number) => Promise<boolean> = async () => true,
): Promise<void> {
  const finished = new Set<number>();
  for (const part of context.checkpoints.finished(step)) if (await isIntact(part)) finished.add(part);
  context.progress(finished.size / parts);
  const missing = [...Array(parts).keys()].filter((part) => !finished.has(part));
  await forEachConcurrently(missing, context.engine, async (part) => {
    context.signal.throwIfAborted();
    await doPart(part);
    finished.add(part);
    context.log.debug({ event: "recording.part_finished", recordingId: context.recording.id, step, part, parts });
    context.progress(finished.size / parts);
  });
}
