import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { writeItem } from "../blocks/index.ts";
import { machineTrouble } from "../disk/index.ts";
import { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "../engine/index.ts";
import { dataOf, operations, type Params, type SpanOperation } from "../operations/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { WorkArea } from "../timeline/index.ts";
import type { LocalEngine } from "./fleet-engine.ts";
import { layOut, MessageError, type Work, type WorkResult } from "./messages.ts";
import { packItems } from "./pack-items.ts";

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
  readonly log: Logger;
}

/** The data of an operation in a directory of its own, which is written while earlier operations run. */
export class WorkData implements AsyncDisposable {
  readonly #log: Logger;
  readonly #directory: Promise<string>;
  readonly #area: Promise<WorkArea>;

  /** @param parent directory in which the data gets a directory */
  constructor({ sampleCount, attachments }: Work, contents: readonly Uint8Array[], parent: string, log: Logger) {
    this.#log = log;
    this.#directory = mkdtemp(join(parent, "operation-"));
    this.#area = this.#directory.then(async (directory) => {
      const area: WorkArea = { directory, pcm: { path: join(directory, "samples.pcm"), sampleCount } };
      await Promise.all(attachments.map(({ item }, at) => writeItem(area, item, contents[at] as Uint8Array)));
      return area;
    });
    // Whoever awaits the area gets the error.
    this.#area.catch(() => {});
  }

  /** Returns the area when it is complete. @throws {Error} if it cannot be written */
  area(): Promise<WorkArea> {
    return this.#area;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#area.catch(() => {});
    const directory = await this.#directory.catch(() => null);
    if (directory === null) return;
    try {
      await rm(directory, { recursive: true, force: true });
    } catch (error) {
      this.#log.error({ event: "fleet.data_not_removed", trouble: messageOf(error) });
    }
  }
}

/**
 * Runs an operation with the data of its message, and packs its result.
 * @throws {MessageError} if the parameters do not match their schema
 * @throws the signal's reason when it is aborted
 */
export async function runWork(
  work: Work,
  data: WorkData,
  { engine, model, device, log }: WorkContext,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let startedAt = performance.now();
  const header = (outcome: WorkResult["outcome"], attachments: WorkResult["attachments"]): WorkResult => ({
    id: work.id,
    outcome,
    ...device(),
    seconds: (performance.now() - startedAt) / 1000,
    attachments,
  });
  try {
    if (work.model !== null && model === null) throw new Error("this machine no longer has the operation's model");
    const area = await data.area();
    const encoder = (await model?.prepare(signal, work.usesEncoder)) ?? null;
    const params = paramsOf(work, area, model, encoder);
    // A self-test of a new model is no part of the operation.
    startedAt = performance.now();
    const result = await engine.run(work.operation, params, signal);
    const { outputs } = dataOf(work.operation, params);
    return await packItems(area, outputs, (attachments) => header({ type: "done", result }, attachments));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MessageError) throw error;
    log.error({ event: "fleet.operation_failed", operation: work.operation, trouble: messageOf(error) });
    return layOut(header(outcomeOf(error), []), []).message;
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
