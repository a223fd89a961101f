import { stat } from "node:fs/promises";
import { type SpeakerPart, speakerParts, type UnexpectedExit } from "../../engine/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { onnxLibraryOf } from "../onnx-runtime.ts";
import { cpuIdentity } from "./cpu-libraries.ts";
import { mayBeDriversCrash, reasonOfExit } from "./gpu-fallback.ts";
import { gpuIdentity, isGpuWithinReach } from "./gpu-presence.ts";
import { faultOf, type GpuTestResult, judgeGpu, type SampleOptions, testWithSample } from "./gpu-self-test.ts";
import { runSelfTest, type SelfTestOptions, type SelfTestResult } from "./run-self-test.ts";
import type { SelfTestAnswer, SelfTestParams } from "./self-tests.ts";
import { verdictKey } from "./verdicts.ts";

/** ONNX Runtime's addon, the diarization models, and how to test them. */
export type DiarizationTestOptions = SelfTestOptions & SelfTestParams<"computeDiarization">;

interface CompareOptions extends DiarizationTestOptions, SampleOptions {
  /** Number of workers with one thread that would compute the models on the CPU; 0: one process with all threads. */
  readonly speakerWorkers: number;
}

/** The diarization models that run on a GPU, and those that do not. */
export interface DiarizationGpuChoice {
  readonly onGpu: readonly SpeakerPart[];
  readonly leftOut: readonly { readonly part: SpeakerPart; readonly reason: string }[];
}

export interface ChooseDiarizationGpuOptions extends CompareOptions {
  /** JSON file that stores the verdicts; created if missing. */
  readonly verdictsPath: string;
  /** Returns whether this process can reach any GPU. */
  readonly withinReach?: () => boolean;
}

/**
 * Maximum difference between the results of the GPU and of the CPU in floats. In production the CPU rounds to bytes,
 * which changes results by twice as much and more. Mesa's software device deviates by a millionth, nonsense by 0.1 and
 * more.
 */
const MAX_ERROR = 0.0005;
/** Version of the self-test; increase it with every change of the test or of the model for GPUs. */
const TEST_VERSION = 1;

/** Runs the diarization models briefly on the CPU in a separate process. @throws only the signal's reason */
export function testDiarization(
  options: DiarizationTestOptions,
): Promise<SelfTestResult<SelfTestAnswer<"computeDiarization">>> {
  return runSelfTest("computeDiarization", options);
}

/**
 * Runs one of the diarization models on a GPU in a separate process. The GPU passes if its results match the CPU's and
 * it is faster than all workers on the CPU. @throws only the signal's reason
 */
export function testDiarizationGpu(options: CompareOptions, part: SpeakerPart): Promise<GpuTestResult> {
  const { speakerWorkers } = options;
  return testWithSample(options, async (pcmPath) => {
    const cpuThreads = speakerWorkers > 0 ? { cpuThreads: 1 } : {};
    const result = await runSelfTest("compareDiarization", { ...options, ...cpuThreads, part, pcmPath });
    if (!result.ok) return result;
    const { seconds, cpuSeconds, error } = result.answer;
    const fault = error > MAX_ERROR ? `its results differ from the right ones by ${error.toPrecision(2)}` : null;
    // A GPU computes one operation at a time, the CPU one in each worker.
    return judgeGpu(fault, seconds, cpuSeconds / Math.max(1, speakerWorkers), true);
  });
}

/**
 * Chooses the diarization models that ONNX Runtime's WebGPU provider computes correctly and faster than the CPU. Stores
 * the results for this machine, model and library. Tests nothing if no GPU can be reached.
 */
export async function chooseDiarizationGpu(options: ChooseDiarizationGpuOptions): Promise<DiarizationGpuChoice> {
  const onGpu: SpeakerPart[] = [];
  const leftOut: { part: SpeakerPart; reason: string }[] = [];
  if (!(options.withinReach ?? isGpuWithinReach)()) return { onGpu, leftOut };
  for (const part of speakerParts) {
    const files = [options[`${part}Model`], onnxLibraryOf(options.onnxBinding)];
    const known = await Promise.all(files.map((path) => stat(path).then(({ size, mtimeMs }) => [path, size, mtimeMs])));
    const { speakerWorkers } = options;
    const workers = speakerWorkers > 0 ? [speakerWorkers] : [];
    const key = verdictKey([TEST_VERSION, part, cpuIdentity(), gpuIdentity(), known, ...workers]);
    const test = () => testDiarizationGpu(options, part);
    const fault = await faultOf(options.verdictsPath, key, `webgpu ${part}`, test);
    if (fault === null) onGpu.push(part);
    else leftOut.push({ part, reason: fault });
  }
  return { onGpu, leftOut };
}

export interface DiarizationGpuOptions {
  readonly files: ProgramFiles;
  /** Path of the stored self-test results. */
  readonly verdictsPath: string;
  readonly log: Logger;
  /** Provides the decoded sample that the self-test compares devices with. */
  readonly withSample: SampleOptions["withSample"];
  /** Determines which of the models a GPU computes better than the CPU; the self-test by default. */
  readonly choose?: typeof chooseDiarizationGpu;
}

/**
 * The diarization models that a GPU computes. After a GPU failure that they may have caused, the CPU computes them
 * until the program exits, because they gain less from a GPU than the recognizer does.
 */
export class DiarizationGpu {
  readonly #options: DiarizationGpuOptions;
  #onGpu: readonly SpeakerPart[] | null = null;
  /** The GPU of the worker that computes them; undefined if that worker has no GPU. */
  #worker: string | undefined;

  constructor(options: DiarizationGpuOptions) {
    this.#options = options;
  }

  /**
   * Returns the models that the GPU computes; determines them on the first call. @throws the signal's reason
   * @param speakerWorkers number of workers that would compute them on the CPU; 0: only the first worker
   * @param worker the GPU of the worker that computes them
   */
  async parts(speakerWorkers: number, worker?: string, signal?: AbortSignal): Promise<readonly SpeakerPart[]> {
    this.#worker = worker;
    if (this.#onGpu !== null) return this.#onGpu;
    const { files, verdictsPath, log, withSample, choose = chooseDiarizationGpu } = this.#options;
    const { onnxBinding, segmentationModel, embeddingModel } = files;
    const models = { onnxBinding, segmentationModel, embeddingModel };
    const { onGpu, leftOut } = await choose({ ...models, speakerWorkers, verdictsPath, withSample, signal });
    if (leftOut.length > 0) log.warn({ event: "engine.speakers_on_cpu", leftOut });
    this.#onGpu = onGpu;
    return onGpu;
  }

  /** Handles the end of a worker. @returns whether only these models are blamed for it */
  after(exit: UnexpectedExit): boolean {
    const { gpu, gpuFailure, stalled, running } = exit;
    if (this.#onGpu === null || this.#onGpu.length === 0 || gpu !== this.#worker) return false;
    const isUnknown = stalled === true || mayBeDriversCrash(exit);
    const isOfRecognizer = running !== undefined && running.speech.length > 0 && running.others.length === 0;
    const mayBeTheirs =
      gpuFailure === undefined
        ? isUnknown && !isOfRecognizer
        : gpuFailure.part === "speakers" || gpuFailure.outOfMemory;
    if (!mayBeTheirs) return false;
    const [parts, reason, until] = [this.#onGpu, reasonOfExit(exit), "the next start of the server"];
    this.#options.log.error({ event: "engine.speakers_gpu_left_out", parts, reason, until });
    this.#onGpu = [];
    return true;
  }
}
