import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { cpuShares, type UnexpectedExit } from "../engine/index.ts";
import { memoryOf, usableProcessors } from "../machine/index.ts";
import type { WorkerStart } from "../operations/index.ts";
import { type ProgramFiles, renewal } from "../program/index.ts";
import { addonFile } from "../runtimes/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { chooseGpus } from "./choose-gpus.ts";
import { chooseCpuLibraryFor, leaveOutCpuLibrary } from "./cpu-libraries.ts";
import { GpuFallback } from "./gpu-fallback.ts";
import type { GpuTestOptions } from "./gpu-self-test.ts";
import { slotsWith, threadsOf } from "./lane-shares.ts";
import { speakerWorkers } from "./speaker-workers.ts";
import { gpuSpeedOf, readTuning, sharesOf, storeTuning } from "./tunings.ts";

export interface PrepareWorkerOptions {
  /** The files that a worker loads. */
  readonly files: ProgramFiles;
  /** Returns paths of the speech models that it must be able to run; the first one is loaded first. */
  readonly speechModels: () => readonly [string, ...string[]];
  readonly threads: number;
  /** Operations at once of each device, see the setting; 0: as many as were measured to be best. */
  readonly lanes: number;
  /** Slots of each GPU, see the setting; 0: as many as were measured to be best. */
  readonly decoderSlots: number;
  /** The device that the recognizer uses, see the setting. */
  readonly device: Settings["engine"]["device"];
  /** The only CPU variant that is considered, or `auto`, see the setting. */
  readonly cpuVariant: string;
  /** Path of CUDA's backend, see the setting; empty if there is none. */
  readonly cudaLibrary: string;
  /** Path of the stored self-test results. */
  readonly verdictsPath: string;
  readonly log: Logger;
  /** Returns whether memory is so short that one worker is to run one operation at once; never if it is missing. */
  readonly runsOneAtOnce?: () => boolean;
  /** Provides the decoded sample that self-tests compare devices with. */
  readonly withSample: GpuTestOptions["withSample"];
}

type ComputeOptions = Pick<
  PrepareWorkerOptions,
  "threads" | "lanes" | "decoderSlots" | "device" | "cpuVariant" | "cudaLibrary"
>;

/** Returns how the settings let the workers compute. */
export function computeOptions(engine: Settings["engine"]): ComputeOptions {
  return {
    threads: engine.threads || usableProcessors(),
    lanes: engine.lanes,
    decoderSlots: engine.decoder_slots || engine.joint_states,
    device: engine.device,
    cpuVariant: engine.cpu_variant,
    cudaLibrary: engine.cuda_library,
  };
}

/**
 * Returns a function that determines what the workers load: the best CPU variant that passes its self-test, and one GPU
 * for each worker from those that pass theirs, with speaker workers on the CPU next to them. Without a GPU, one worker
 * runs all operations on the CPU. A CPU variant that caused an illegal instruction is excluded from then on, a GPU that
 * fails at work until the program exits.
 */
export function workerPreparation(
  options: PrepareWorkerOptions,
): (exit: UnexpectedExit | null, signal: AbortSignal) => Promise<[WorkerStart, ...WorkerStart[]]> {
  const { files, threads, verdictsPath, log, device, cpuVariant, cudaLibrary, speechModels, withSample } = options;
  const measuredShares = (start: WorkerStart) => sharesOf(readTuning(verdictsPath, { start, threads }));
  const lanesOf = (start: WorkerStart) => options.lanes || measuredShares(start)?.lanes || undefined;
  const { nativeDirectory, onnxBinding, segmentationModel, embeddingModel } = files;
  /** The CPU variant that the last worker was started with, which may have crashed it. */
  let started = "";
  const fallback = new GpuFallback(log);
  /** The latest starts of GPU workers. */
  let onGpus: readonly WorkerStart[] = [];
  /** Marks measured lanes for which memory did not suffice at work, so that the next start of the server uses fewer. */
  const markLanes = ({ gpu, gpuFailure }: UnexpectedExit) => {
    const start = onGpus.find((each) => each.gpu?.label === gpu);
    if (start === undefined || gpuFailure?.outOfMemory !== true || options.lanes > 0) return;
    const tuning = readTuning(verdictsPath, { start, threads });
    const { lanes, speechThreads, slots } = start;
    if (sharesOf(tuning)?.lanes !== lanes) return;
    const failed = { lanes, threads: speechThreads, reason: `at work: ${gpuFailure.message}` };
    const hasSlots = slots !== undefined && slots > 1 && options.decoderSlots === 0;
    storeTuning(verdictsPath, { ...tuning, ...(hasSlots ? { failedSlots: { ...failed, slots } } : { failed }) });
  };
  // Read once: the workers' own memory must not change their number.
  const { availableBytes } = memoryOf();
  return async (exit, signal) => {
    if (exit !== null) {
      fallback.after(exit);
      markLanes(exit);
    }
    const choice = { nativeDirectory, verdictsPath, cpuVariant, signal };
    const [speechModel, ...others] = speechModels();
    requireParts(files, speechModel);
    if (exit?.signal === "SIGILL" && exit.role !== "speakers" && started !== "") {
      log.error({ event: "engine.cpu_variant_left_out", cpuLibrary: started });
      for (const each of [speechModel, ...others]) {
        await leaveOutCpuLibrary({ ...choice, speechModel: each }, started, "a worker met an illegal instruction");
      }
    }
    const { leftOut, cpuLibrary } = await chooseCpuLibraryFor(choice, [speechModel, ...others]).catch((error) => {
      if (others.length === 0 || signal.aborted) throw error;
      // An unusable model that only a few recordings still need must not block the others.
      log.error({ event: "engine.models_unusable", detail: messageOf(error) });
      return chooseCpuLibraryFor(choice, [speechModel]);
    });
    if (leftOut.length > 0) log.warn({ event: "engine.cpu_variants_failed", leftOut });
    const { gpus, leftOut: gpusLeftOut } = await chooseGpus({
      ...choice,
      speechModel,
      cpuLibrary,
      cudaLibrary,
      mustBeFaster: device === "auto",
      backends: (kind) => device === "auto" || device === kind,
      allows: fallback.allows,
      withSample,
    });
    if (gpusLeftOut.length > 0) log.warn({ event: "engine.gpus_left_out", leftOut: gpusLeftOut });
    started = cpuLibrary;
    const models = { onnxBinding, segmentationModel, embeddingModel, speechModel };
    const start = { type: "start" as const, nativeDirectory, cpuLibrary, ...models, ...cpuShares(threads), threads };
    const oneAtOnce = options.runsOneAtOnce?.() === true;
    const usedGpus = oneAtOnce ? gpus.slice(0, 1) : gpus;
    const gpuSpeed = gpuSpeedOf(usedGpus.map((gpu) => readTuning(verdictsPath, { start: { ...start, gpu }, threads })));
    const speakers = oneAtOnce ? 0 : speakerWorkers(threads, gpus.length, availableBytes, gpuSpeed).count;
    const [first, ...more] = usedGpus.map((gpu) => {
      const lanes = oneAtOnce ? 1 : fallback.lanesOf(gpu.label, lanesOf({ ...start, gpu }));
      const speechThreads = threadsOf(threads, usedGpus.length * lanes);
      const slots = slotsWith(lanes, measuredShares({ ...start, gpu }), options);
      return {
        ...{ ...start, ...(speakers > 0 ? { role: "speech" as const } : {}), gpu, lanes, speechThreads },
        ...(slots > 1 ? { slots } : {}),
      };
    });
    onGpus = first === undefined ? [] : [first, ...more];
    const speakerStart = { ...start, role: "speakers" as const, threads: 1, speechThreads: 1, lanes: 1 };
    return [
      first ?? { ...start, ...cpuShares(threads, oneAtOnce ? 1 : lanesOf(start)) },
      ...more,
      ...Array.from({ length: speakers }, () => speakerStart),
    ];
  };
}

/** Checks that all files that a worker loads exist. @throws Error that names the missing file */
function requireParts(files: ProgramFiles, speechModel: string): void {
  const own = [files.segmentationModel, files.embeddingModel, join(files.nativeDirectory, addonFile)];
  for (const path of [...own, speechModel]) {
    if (existsSync(path)) continue;
    const isOwn = path !== speechModel || path === files.speechModel;
    throw new Error(`${path} is missing; ${isOwn ? renewal : "get it again with: transcribe models pull, or import"}`);
  }
}
