import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Gpu } from "../../engine/index.ts";
import { editDistance } from "../../text/index.ts";
import { isCpuLibrary, isGpuLibrary } from "../ggml.ts";
import { askSelfTest, type Trial } from "./ask-self-test.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import { type GpuTrial, judgeGpu, type SampleOptions, slowness, tryWithSample } from "./gpu-trial.ts";
import type { DeviceTrialOptions } from "./list-gpus.ts";
import { type TranscribedSample, transcribedSampleSchema } from "./self-test-answers.ts";

export interface GpuTestOptions extends DeviceTrialOptions, SampleOptions {
  readonly speechModel: string;
  /** Whether a GPU is only used if it is faster than the CPU. */
  readonly mustBeFaster: boolean;
  /** Time limit of one self-test. */
  readonly timeoutMilliseconds?: number;
}

/** GPU drivers compile their kernels at first use, which takes minutes with some drivers. */
const defaultTimeoutMilliseconds = 300_000;

/**
 * Maximum share of words that may differ from the CPU's transcript. Devices round differently, so one word in ten may
 * differ. A broken GPU outputs no recognizable words at all.
 */
const mostOtherWords = 0.1;

/** Self-test of GPUs, one after the other. Measures the CPU, the reference for all of them, only once. */
export class GpuTester {
  readonly #options: GpuTestOptions;
  #onCpu: Trial<TranscribedSample> | null = null;

  constructor(options: GpuTestOptions) {
    this.#options = options;
  }

  /**
   * Transcribes a sample on a GPU and on the CPU, each in a separate process. The GPU passes if its words match except
   * for a few; it must also be faster if `mustBeFaster` is set.
   * @throws only the signal's reason
   */
  try(gpu: Pick<Gpu, "library" | "environment">): Promise<GpuTrial> {
    return tryWithSample(this.#options, (sample) => this.#compare(gpu, sample));
  }

  async #compare({ library, environment }: Pick<Gpu, "library" | "environment">, sample: string): Promise<GpuTrial> {
    const gpu = await hear(this.#options, sample, [library], environment);
    if (!gpu.ok) return gpu;
    const cpu = this.#onCpu ?? (await hear(this.#options, sample, [], {}));
    if (!cpu.ok) return { ok: false, reason: `the CPU, to compare with: ${cpu.reason}`, lasting: false, late: false };
    this.#onCpu = cpu;
    const fault = difference(gpu.answer, cpu.answer, this.#options.mustBeFaster);
    return judgeGpu(fault, gpu.answer.seconds, cpu.answer.seconds);
  }
}

function difference(gpu: TranscribedSample, cpu: TranscribedSample, mustBeFaster: boolean): string | null {
  if (cpu.words.length === 0) return "the model hears no words in the sample, so that nothing can be compared";
  const others = editDistance(gpu.words, cpu.words);
  if (others > mostOtherWords * cpu.words.length) {
    return `it hears other words than the CPU: ${others} of ${cpu.words.length} differ`;
  }
  return mustBeFaster ? slowness(gpu.seconds, cpu.seconds) : null;
}

async function hear(
  options: GpuTestOptions,
  sample: string,
  gpuLibrary: readonly string[],
  environment: Gpu["environment"],
): Promise<Trial<TranscribedSample>> {
  const { nativeDirectory, cpuLibrary, speechModel } = options;
  const args = ["speech", nativeDirectory, cpuLibrary, speechModel, sample, ...gpuLibrary];
  return await askSelfTest(
    { timeoutMilliseconds: defaultTimeoutMilliseconds, ...options, environment },
    args,
    transcribedSampleSchema,
  );
}

/**
 * Returns the key of a verdict on a GPU: a hash of the backend's digest, the GPU, the model's file and `mustBeFaster`.
 */
export async function gpuVerdictKey(
  { speechModel, mustBeFaster }: Pick<GpuTestOptions, "speechModel" | "mustBeFaster">,
  gpu: Gpu,
  backendDigest: string,
): Promise<string> {
  const model = await stat(speechModel);
  const about = [backendDigest, gpu, speechModel, model.size, model.mtimeMs, mustBeFaster];
  return createHash("sha256").update(JSON.stringify(about)).digest("hex").slice(0, 32);
}

/**
 * Returns the digest for which results of a GPU backend stay valid. It covers the CPU, the GPUs and drivers, and the
 * contents of the libraries.
 */
export async function gpuBackendDigest(
  { nativeDirectory, cpuLibrary }: Pick<GpuTestOptions, "nativeDirectory" | "cpuLibrary">,
  gpuLibrary: string,
  environment?: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([cpuIdentity(), gpuIdentity(environment), gpuLibrary]));
  if (isAbsolute(gpuLibrary)) hash.update(await readFile(gpuLibrary).catch(() => ""));
  for (const name of (await readdir(nativeDirectory)).sort()) {
    const isOther = (isCpuLibrary(name) && name !== cpuLibrary) || (isGpuLibrary(name) && name !== gpuLibrary);
    if (!isOther) hash.update(await readFile(join(nativeDirectory, name)));
  }
  return hash.digest("hex").slice(0, 32);
}
