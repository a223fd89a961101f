import { Value } from "@sinclair/typebox/value";
import { writeItem } from "../blocks/index.ts";
import {
  type AttemptRecord,
  EngineCrashError,
  EngineKilledError,
  EngineOperationError,
  EngineStalledError,
} from "../engine/index.ts";
import { dataOf, operations, type Params, type Result, type SpanOperation } from "../operations/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { SAMPLE_RATE } from "../timeline/index.ts";
import { MessageError, type Work, type WorkResult } from "./messages.ts";
import { packItems } from "./pack-items.ts";

/** The end of an operation, for the caller that requested it. */
type OperationOutcome = { readonly result: unknown } | { readonly error: unknown };

/** An operation that the pipeline requested from the coordinator and that has not ended. */
export interface PendingOperation {
  readonly operation: SpanOperation;
  readonly params: Params<SpanOperation>;
  readonly record: AttemptRecord | null;
  /** SHA-256 of the speech model that the operation needs; null if it needs none. */
  readonly model: string | null;
  readonly signal: AbortSignal;
  readonly settle: (outcome: OperationOutcome) => void;
  /** Whether only this machine can run it: it is too large for a message, or its model has no known digest. */
  isLocal: boolean;
  /** Pool whose workers may fetch it; empty: the workers with certificates of their own. It counts while it is published. */
  pool: string;
  /** Size of its message in the pool's stream, estimated until it is packed; 0 while it has none. */
  bytes: number;
  /** Number of workers that did not finish it. */
  lost: number;
  /** Number of times that it was fetched and not reported in time. */
  unreported: number;
  /** Machine that runs it; null while it waits in the broker, or at a worker that fetched it ahead. */
  machine: string | null;
  /** Machine that fetched it ahead; null if none did. */
  fetchedBy: string | null;
  /** Number of the broker's delivery that was started; 0 if none was. */
  delivery: number;
}

/** A worker cannot run operations now; another one may. */
export class UnableWorkerError extends Error {
  override readonly name = "UnableWorkerError";
}

/**
 * Packs an operation with the data that it needs.
 * @param id of this publication
 * @throws {Error} if the operation's own data cannot be read
 */
export async function packOperation(
  { operation, params, model }: PendingOperation,
  id: string,
  coordinator: string,
): Promise<Uint8Array> {
  const { area, model: _, encoder, ...rest } = params as Params<"transcribe">;
  const { inputs } = dataOf(operation, params);
  return await packItems(
    area,
    inputs,
    (attachments): Work => ({
      id,
      coordinator,
      operation,
      params: rest,
      sampleCount: area.pcm.sampleCount,
      model,
      usesEncoder: encoder !== undefined,
      attachments,
    }),
  );
}

/** Size of a message without samples: its header and the files of blocks. */
const OTHER_BYTES = 64 * 1024;
const BYTES_PER_SAMPLE = 2;

/** Returns the size that the message of an operation will have, by its samples. */
export function estimateBytes({ operation, params }: PendingOperation): number {
  const { inputs } = dataOf(operation, params);
  const samples = inputs.reduce((sum, item) => sum + (item.kind === "pcm" ? item.sampleCount : 0), 0);
  return BYTES_PER_SAMPLE * samples + OTHER_BYTES;
}

/**
 * Writes the files of a worker's result, and returns the operation's outcome.
 * @throws {MessageError} if the result is not one of this operation
 * @throws {UnableWorkerError} if the worker could not attempt the operation
 */
export async function acceptResult(
  { operation, params }: PendingOperation,
  { outcome, attachments }: WorkResult,
  contents: readonly Uint8Array[],
): Promise<{ readonly result: unknown } | { readonly error: Error }> {
  if (outcome.type === "unable") throw new UnableWorkerError(outcome.message);
  if (outcome.type !== "done") return { error: errorOf(outcome) };
  if (!Value.Check(operations[operation].result, outcome.result)) {
    throw new MessageError(`the result of ${operation} does not match its schema`);
  }
  const hasWords = operation === "transcribe" || operation === "translate" || operation === "transcribeLive";
  if (hasWords && !isWithinRecording(outcome.result as Pick<Result<"transcribe">, "words">, params)) {
    throw new MessageError(`the result of ${operation} has words outside the recording`);
  }
  const { outputs } = dataOf(operation, params);
  const isExpected =
    outputs.length === attachments.length && outputs.every((output, at) => Value.Equal(output, attachments[at]?.item));
  if (!isExpected) throw new MessageError(`the result of ${operation} has other files than expected`);
  for (const [at, output] of outputs.entries()) {
    try {
      await writeItem(params.area, output, contents[at] as Uint8Array);
    } catch (error) {
      // The system refused the file, e.g. because the disk is full: the worker is not to blame.
      if (error instanceof Error && codeOf(error) !== "") return { error };
      throw new MessageError(`a file of the result of ${operation} cannot be used: ${messageOf(error)}`);
    }
  }
  return { result: outcome.result };
}

/** The recognizer pads the last window of a recording to 30 s; a word may end in the padding. */
const PADDING_SECONDS = 30;

/** Returns whether all words end about the recording. Later steps reserve memory for the times of words. */
function isWithinRecording({ words }: Pick<Result<"transcribe">, "words">, { area }: Params<SpanOperation>): boolean {
  const end = area.pcm.sampleCount / SAMPLE_RATE + PADDING_SECONDS;
  return words.every(({ startSeconds, endSeconds }) => startSeconds <= end && endSeconds <= end);
}

function errorOf(outcome: Exclude<WorkResult["outcome"], { type: "done" | "unable" }>): Error {
  if (outcome.type === "failed") return new EngineOperationError(outcome.message, outcome.code);
  if (outcome.type === "stalled") return new EngineStalledError(outcome.message);
  if (outcome.type === "killed") return new EngineKilledError(outcome.message);
  return new EngineCrashError(outcome.message);
}
