import { chooseSpeakerGpu, type SpeakerPart, type WorkerDeath } from "../engine/index.ts";
import { ownCommand, type ProgramFiles } from "../program/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { nativeCrashes } from "./native-crashes.ts";
import { withSpeechSample } from "./speech-sample.ts";

export interface SpeakerGpuOptions {
  readonly files: ProgramFiles;
  /** Where the verdicts of self-tests are kept. */
  readonly verdictsPath: string;
  readonly log: Logger;
  /** Finds out what a GPU computes best; the self-test by default. */
  readonly choose?: typeof chooseSpeakerGpu;
}

/**
 * Which of the models that tell speakers apart a GPU computes. They gain the least by it: where it fails, and that may have
 * been them, the CPU does them for as long as the program runs.
 */
export class SpeakerGpu {
  readonly #options: SpeakerGpuOptions;
  #onGpu: readonly SpeakerPart[] | null = null;
  /** The GPU of the worker that has them; undefined: it is for none. */
  #worker: string | undefined;

  constructor(options: SpeakerGpuOptions) {
    this.#options = options;
  }

  /** Found out once. @param worker the GPU of the worker that is to have them @throws the signal's reason */
  async parts(worker?: string, signal?: AbortSignal): Promise<readonly SpeakerPart[]> {
    this.#worker = worker;
    if (this.#onGpu !== null) return this.#onGpu;
    const { files, verdictsPath, log, choose = chooseSpeakerGpu } = this.#options;
    const { onnxBinding, segmentationModel, embeddingModel } = files;
    const { onGpu, leftOut } = await choose({
      ...{ command: ownCommand("__selftest"), onnxBinding, segmentationModel, embeddingModel, verdictsPath },
      withSample: (use) => withSpeechSample(files, use),
      ...(signal === undefined ? {} : { signal }),
    });
    if (leftOut.length > 0) log.warn({ event: "engine.speakers_on_cpu", leftOut });
    this.#onGpu = onGpu;
    return onGpu;
  }

  /** Takes note of how a worker ended. @returns whether that is put down to these models, and to nothing else */
  after({ gpu, gpuFailure, signal, stalled, at }: WorkerDeath): boolean {
    if (this.#onGpu === null || this.#onGpu.length === 0 || gpu !== this.#worker) return false;
    const isUnknown = stalled === true || nativeCrashes.has(signal ?? "");
    const isOfWhisper = at !== undefined && at.speech.length > 0 && at.others.length === 0;
    const mayBeTheirs =
      gpuFailure === undefined ? isUnknown && !isOfWhisper : gpuFailure.part === "speakers" || gpuFailure.outOfMemory;
    if (!mayBeTheirs) return false;
    const reason = gpuFailure?.message ?? (stalled === true ? "it came to no end" : `the worker ended with ${signal}`);
    const until = "the next start of the server";
    this.#options.log.error({ event: "engine.speakers_gpu_left_out", parts: this.#onGpu, reason, until });
    this.#onGpu = [];
    return true;
  }
}
