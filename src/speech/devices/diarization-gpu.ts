import type { SpeakerPart, UnexpectedExit } from "../../engine/index.ts";
import { ownCommand, type ProgramFiles } from "../../program/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { type ChooseSpeakerGpuOptions, chooseSpeakerGpu } from "./choose-speaker-gpu.ts";
import { mayBeDriversCrash, reasonOfEnd } from "./gpu-fallback.ts";

export interface DiarizationGpuOptions {
  readonly files: ProgramFiles;
  /** Path of the stored self-test results. */
  readonly verdictsPath: string;
  readonly log: Logger;
  /** Provides the decoded sample that the self-test compares devices with. */
  readonly withSample: ChooseSpeakerGpuOptions["withSample"];
  /** Determines which of the models a GPU computes better than the CPU; the self-test by default. */
  readonly choose?: typeof chooseSpeakerGpu;
}

/**
 * The speaker diarization models that a GPU computes. They gain less from a GPU than the recognizer does. After a GPU failure
 * that they may have caused, the CPU computes them until the program exits.
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
   * Returns the models that the GPU computes; determines them on the first call.
   * @param worker the GPU of the worker that computes them
   * @throws the signal's reason
   */
  async parts(worker?: string, signal?: AbortSignal): Promise<readonly SpeakerPart[]> {
    this.#worker = worker;
    if (this.#onGpu !== null) return this.#onGpu;
    const { files, verdictsPath, log, withSample, choose = chooseSpeakerGpu } = this.#options;
    const { onnxBinding, segmentationModel, embeddingModel } = files;
    const { onGpu, leftOut } = await choose({
      ...{ command: ownCommand("__selftest"), onnxBinding, segmentationModel, embeddingModel, verdictsPath },
      withSample,
      ...(signal === undefined ? {} : { signal }),
    });
    if (leftOut.length > 0) log.warn({ event: "engine.speakers_on_cpu", leftOut });
    this.#onGpu = onGpu;
    return onGpu;
  }

  /**
   * Handles the end of a worker.
   * @returns whether only these models are blamed for it
   */
  after(death: UnexpectedExit): boolean {
    const { gpu, gpuFailure, stalled, running } = death;
    if (this.#onGpu === null || this.#onGpu.length === 0 || gpu !== this.#worker) return false;
    const isUnknown = stalled === true || mayBeDriversCrash(death);
    const isOfRecognizer = running !== undefined && running.speech.length > 0 && running.others.length === 0;
    const mayBeTheirs =
      gpuFailure === undefined
        ? isUnknown && !isOfRecognizer
        : gpuFailure.part === "speakers" || gpuFailure.outOfMemory;
    if (!mayBeTheirs) return false;
    const until = "the next start of the server";
    this.#options.log.error({
      event: "engine.speakers_gpu_left_out",
      parts: this.#onGpu,
      reason: reasonOfEnd(death),
      until,
    });
    this.#onGpu = [];
    return true;
  }
}
