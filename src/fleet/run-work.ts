import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import {
  dataOf,
  EngineCrashError,
  EngineKilledError,
  EngineOperationError,
  EngineStalledError,
  operations,
  type Params,
  type SpanOperation,
} from "../engine/index.ts";
import { machineTrouble } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { readItem, type WorkArea, writeItem } from "../timeline/index.ts";
import type { LocalEngine } from "./fleet-engine.ts";
import { MessageError, pack, type Work, type WorkResult } from "./messages.ts";

/** A speech model that a worker has. */
export interface WorkerModel {
  readonly path: string;
  readonly sha256: string;
  /**
   * Ensures that the engine can run the model.
   * @returns the path of the ONNX form of its encoder on this machine; null if its own encoder is used
   */
  readonly prepare: (signal: AbortSignal, usesEncoder: boolean) => Promise<string | null>;
}

interface WorkContext {
  readonly engine: LocalEngine;
  /** The operation's model; null if it needs none, or this machine does not have it. */
  readonly model: WorkerModel | null;
  /** Returns the device of the recognizer: `cpu`, or a GPU's backend and label. */
  readonly device: () => { readonly device: string; readonly gpu: string };
  /** Directory in which the operation's data gets a directory of its own. */
  readonly directory: string;
  readonly log: Logger;
}

/**
 * Runs an operation with the data of its message, and packs its result.
 * @throws {MessageError} if the parameters do not match their schema
 * @throws the signal's reason when it is aborted
 */
export async function runWork(
  work: Work,
  contents: readonly Uint8Array[],
  { engine, model, device, directory, log }: WorkContext,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let startedAt = performance.now();
  let own: string | null = null;
  const header = (outcome: WorkResult["outcome"], attachments: WorkResult["attachments"]): WorkResult => ({
    id: work.id,
    outcome,
    ...device(),
    seconds: (performance.now() - startedAt) / 1000,
    attachments,
  });
  try {
    if (work.model !== null && model === null) throw new Error("this machine no longer has the operation's model");
    own = await mkdtemp(join(directory, "operation-"));
    const area: WorkArea = { directory: own, pcm: { path: join(own, "samples.pcm"), sampleCount: work.sampleCount } };
    const encoder = (await model?.prepare(signal, work.usesEncoder)) ?? null;
    const params = paramsOf(work, area, model, encoder);
    for (const [at, { item }] of work.attachments.entries()) await writeItem(area, item, contents[at] as Uint8Array);
    // A self-test of a new model is no part of the operation.
    startedAt = performance.now();
    const result = await engine.run(work.operation, params, signal);
    const { outputs } = dataOf(work.operation, params);
    const files = await Promise.all(outputs.map((item) => readItem(area, item)));
    const attachments = outputs.map((item, at) => ({ item, bytes: files[at]?.length ?? 0 }));
    return pack(header({ type: "done", result }, attachments), files);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MessageError) throw error;
    log.error({ event: "fleet.operation_failed", operation: work.operation, trouble: messageOf(error) });
    return pack(header(outcomeOf(error), []), []);
  } finally {
    if (own !== null) await remove(own, log);
  }
}

async function remove(directory: string, log: Logger): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch (error) {
    log.error({ event: "fleet.data_not_removed", trouble: messageOf(error) });
  }
}

/** Returns the parameters with this machine's paths. @throws {MessageError} if they do not match their schema */
function paramsOf(
  work: Work,
  area: WorkArea,
  model: WorkerModel | null,
  encoder: string | null,
): Params<SpanOperation> {
  const params: Record<string, unknown> = { ...work.params, area };
  if (model !== null) params.model = model.path;
  if (encoder !== null) params.encoder = encoder;
  if (!Value.Check(operations[work.operation].params, params))
    throw new MessageError(`the parameters of ${work.operation} do not match their schema`);
  return params as Params<SpanOperation>;
}

function outcomeOf(error: unknown): WorkResult["outcome"] {
  const message = messageOf(error).slice(0, 4000);
  if (error instanceof EngineStalledError) return { type: "stalled", message };
  if (error instanceof EngineKilledError) return { type: "killed", message };
  if (error instanceof EngineCrashError) return { type: "crashed", message };
  // A full disk here says nothing about the coordinator's.
  const isOfOperation = error instanceof EngineOperationError && machineTrouble(error) === null;
  return isOfOperation ? { type: "failed", message, code: error.code } : { type: "unable", message };
}
