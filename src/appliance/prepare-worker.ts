import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import {
  chooseCpuLibraryFor,
  chooseGpus,
  cpuShares,
  leaveOutCpuLibrary,
  type WorkerDeath,
  type WorkerStart,
} from "../engine/index.ts";
import { ownCommand, type ProgramFiles, renewal } from "../program/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../wording/index.ts";
import { GpuRetreat } from "./gpu-retreat.ts";
import { SpeakerGpu } from "./speaker-gpu.ts";
import { withSpeechSample } from "./speech-sample.ts";

export interface PrepareWorkerOptions {
  /** What a worker loads. */
  readonly files: ProgramFiles;
  /** Paths of the whisper models that it must be able to run, the one to begin with first; by default the program's own. */
  readonly whisperModels?: () => readonly [string, ...string[]];
  readonly threads: number;
  /** What whisper computes on, see the setting; auto by default. */
  readonly device?: Settings["engine"]["device"];
  /** Path of CUDA's backend, see the setting; empty: there is none. */
  readonly cudaLibrary?: string;
  /** Where the verdicts of the CPU variants' self-tests are kept. */
  readonly verdictsPath: string;
  readonly log: Logger;
}

/**
 * Says what the workers shall load: the parts as they lie here, the best CPU variant that passes its self-test, and each a GPU
 * that passes its own; where none does, one worker computes on the CPU. A variant that a worker died of by an illegal
 * instruction is left out from then on, and so is, until the program ends, a GPU that fails at work.
 */
export function workerPreparation(
  options: PrepareWorkerOptions,
): (death: WorkerDeath | null, signal?: AbortSignal) => Promise<[WorkerStart, ...WorkerStart[]]> {
  const { files, threads, verdictsPath, log, device = "auto", cudaLibrary = "" } = options;
  const { nativeDirectory, onnxBinding, segmentationModel, embeddingModel } = files;
  const whisperModels = options.whisperModels ?? (() => [files.whisperModel] as const);
  const tests = { command: ownCommand("__selftest"), nativeDirectory, verdictsPath };
  /** What the last worker was started with, and may have died of. */
  let started = "";
  const retreat = new GpuRetreat(log);
  const speakerGpu = new SpeakerGpu({ files, verdictsPath, log });
  return async (death, signal) => {
    if (death !== null && !speakerGpu.after(death)) retreat.after(death);
    const choice = { ...tests, ...(signal === undefined ? {} : { signal }) };
    const [whisperModel, ...others] = whisperModels();
    for (const path of [segmentationModel, embeddingModel, join(nativeDirectory, "whisper.node"), whisperModel]) {
      if (existsSync(path)) continue;
      const isOwn = path !== whisperModel || path === files.whisperModel;
      throw new Error(
        `${path} is missing; ${isOwn ? renewal : "get it again with: transcribe models pull, or import"}`,
      );
    }
    if (death?.signal === "SIGILL" && started !== "") {
      log.error({ event: "engine.cpu_variant_left_out", cpuLibrary: started });
      for (const each of [whisperModel, ...others]) {
        await leaveOutCpuLibrary({ ...choice, whisperModel: each }, started, "a worker met an illegal instruction");
      }
    }
    const { leftOut, cpuLibrary } = await chooseCpuLibraryFor(choice, [whisperModel, ...others]).catch((error) => {
      if (others.length === 0 || signal?.aborted === true) throw error;
      // A model that only a few recordings still need must not keep the others from theirs.
      log.error({ event: "engine.models_unusable", detail: messageOf(error) });
      return chooseCpuLibraryFor(choice, [whisperModel]);
    });
    if (leftOut.length > 0) log.warn({ event: "engine.cpu_variants_failed", leftOut });
    const usable = { ...choice, whisperModel, cpuLibrary };
    const { gpus, leftOut: gpusLeftOut } = await chooseGpus({
      ...{ ...usable, cudaLibrary, verdictsPath, mustBeFaster: device === "auto" },
      backends: (kind) => device === "auto" || device === kind,
      allows: retreat.allows,
      withSample: (use) => withSpeechSample(files, use),
    });
    if (gpusLeftOut.length > 0) log.warn({ event: "engine.gpus_left_out", leftOut: gpusLeftOut });
    started = cpuLibrary;
    const start = {
      ...{ type: "start" as const, nativeDirectory, cpuLibrary, onnxBinding },
      ...{ whisperModel, segmentationModel, embeddingModel, threads },
    };
    const speechThreads = Math.max(1, Math.floor(threads / Math.max(1, gpus.length)));
    const [first, ...more] = gpus.map((gpu) => ({ ...start, gpu, speechThreads, lanes: retreat.lanesOf(gpu.label) }));
    // The first worker does all that whisper has no part in.
    const speakersOnGpu = device === "cpu" ? [] : [...(await speakerGpu.parts(first?.gpu.label, signal))];
    return [{ ...(first ?? { ...start, ...cpuShares(threads) }), speakersOnGpu }, ...more];
  };
}
