import type { Engine } from "../engine/index.ts";
import type { Checkpoints, InternalCause, Recording } from "../recordings/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";

/** The engine as the steps of a recording use it. */
export type StepEngine = Pick<Engine, "run" | "partsAtOnce">;

/** What a step works with. A step does what its checkpoints say is missing, so it can be run again at any time. */
export interface StepContext {
  readonly recording: Recording;
  /** The recording as it was sent. */
  readonly uploadPath: string;
  /** Where step files go; it is there, and gone when the record is terminal. */
  readonly workDirectory: string;
  readonly checkpoints: Checkpoints;
  readonly engine: StepEngine;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Says how far this step is, 0 to 1; null where nothing can be measured. */
  readonly progress: (fraction: number | null) => void;
}

/** A step's context for a part of its work, which goes from one share of the whole to another. */
export function partOfStep<C extends StepContext>(context: C, from: number, to: number): C {
  const progress = (fraction: number | null) =>
    context.progress(fraction === null ? null : from + (to - from) * fraction);
  return { ...context, progress };
}

/** The recording ends here, and not as `completed`: thrown by a step, turned into the record's failure by the pipeline. */
export class RecordingFailure extends Error {
  override readonly name = "RecordingFailure";
  readonly failure:
    | { reason: "no_speech" | "too_short" | "quota_exceeded" }
    | { reason: "internal"; cause: InternalCause };

  constructor(failure: RecordingFailure["failure"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** The failure of a recording whose account has spent its allowance for the day. */
export function quotaExceeded(): RecordingFailure {
  return new RecordingFailure({ reason: "quota_exceeded" }, "the account has no allowance left today");
}

/**
 * Does those parts of a step that are missing, in order, as many at once as the engine takes; a step has at least one part.
 * When one fails, no other begins, and those under way are waited for.
 * @param doPart does one part and writes its checkpoint
 * @param isThere whether what a finished part left on disk is whole; left out where checkpoints hold all there is
 */
export async function forEachMissingPart(
  context: StepContext,
  step: string,
  parts: number,
  doPart: (part: number) => Promise<void>,
  isThere: (part: number) => Promise<boolean> = async () => true,
): Promise<void> {
  const finished = new Set<number>();
  for (const part of context.checkpoints.finished(step)) if (await isThere(part)) finished.add(part);
  context.progress(finished.size / parts);
  const missing = Array.from({ length: parts }, (_, part) => part).filter((part) => !finished.has(part));
  await forEachAtOnce(
    missing,
    () => context.engine.partsAtOnce,
    async (part) => {
      context.signal.throwIfAborted();
      await doPart(part);
      finished.add(part);
      context.log.debug({ event: "recording.part_finished", recordingId: context.recording.id, step, part, parts });
      context.progress(finished.size / parts);
    },
  );
}
