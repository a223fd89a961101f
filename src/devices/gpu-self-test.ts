import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Gpu } from "../operations/index.ts";
import { isCpuLibrary, isGpuLibrary } from "../runtimes/index.ts";
import { editDistance, messageOf } from "../text/index.ts";
import { cpuIdentity } from "./cpu-libraries.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import type { DeviceTestOptions } from "./list-gpus.ts";
import { type Failure, failed, runSelfTest, type SelfTestResult } from "./run-self-test.ts";
import type { SelfTestAnswer } from "./self-tests.ts";
import { shortDigest } from "./verdicts.ts";

/** Result of comparing a GPU with the CPU: the time of a pass over the same sample, or why the GPU is not used. */
export type GpuTestResult = { readonly ok: true; readonly seconds: number; readonly cpuSeconds: number } | Failure;

export interface GpuTestOptions extends DeviceTestOptions {
  readonly speechModel: string;
  /** Calls `use` with the path of an English sample: 16 kHz mono signed 16-bit. Only called if a self-test runs. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  /** Whether a GPU is only used if it is faster than the CPU. */
  readonly mustBeFaster: boolean;
}

/**
 * Maximum share of words that may differ from the CPU's transcript. A broken GPU outputs no recognizable words at all.
 */
const MAX_DIFFERENT_WORDS = 0.1;

type Transcript = SelfTestAnswer<"transcribeSample">;
type TestedGpu = Pick<Gpu, "library" | "environment">;

/** Self-test of GPUs, one after the other. Measures the CPU, the reference for all of them, only once. */
export class GpuTester {
  readonly #options: GpuTestOptions;
  #onCpu: SelfTestResult<Transcript> | null = null;

  constructor(options: GpuTestOptions) {
    this.#options = options;
  }

  /**
   * Transcribes a sample on a GPU and on the CPU, each in a separate process. The GPU passes if its words match except
   * for a few; it must also be faster if `mustBeFaster` is set. Any error becomes a failed result.
   * @throws only the signal's reason
   */
  async test(gpu: TestedGpu): Promise<GpuTestResult> {
    const { withSample, signal } = this.#options;
    try {
      return await withSample((pcmPath) => this.#compare(pcmPath, gpu));
    } catch (error) {
      signal?.throwIfAborted();
      return failed(messageOf(error));
    }
  }

  async #compare(pcmPath: string, gpu: TestedGpu): Promise<GpuTestResult> {
    const onGpu = await this.#transcribe(pcmPath, gpu);
    if (!onGpu.ok) return onGpu;
    const onCpu = this.#onCpu ?? (await this.#transcribe(pcmPath));
    if (!onCpu.ok) return failed(`the CPU, to compare with: ${onCpu.reason}`);
    this.#onCpu = onCpu;
    const fault = difference(onGpu.answer, onCpu.answer);
    if (fault !== null) return failed(fault, { lasting: true });
    const [seconds, cpuSeconds] = [onGpu.answer.seconds, onCpu.answer.seconds];
    if (!this.#options.mustBeFaster || seconds < cpuSeconds) return { ok: true, seconds, cpuSeconds };
    const times = `${seconds.toFixed(2)} s against ${cpuSeconds.toFixed(2)} s`;
    return failed(`it is no faster than the CPU: ${times}`, { lasting: true });
  }

  async #transcribe(pcmPath: string, gpu?: TestedGpu): Promise<SelfTestResult<Transcript>> {
    const gpuLibrary = gpu && { gpuLibrary: gpu.library };
    const options = { ...this.#options, pcmPath, ...gpuLibrary, environment: gpu?.environment };
    return await runSelfTest("transcribeSample", options);
  }
}

function difference(gpu: Transcript, cpu: Transcript): string | null {
  if (cpu.words.length === 0) return "the model recognizes no words in the sample, so that nothing can be compared";
  const different = editDistance(gpu.words, cpu.words);
  if (different <= MAX_DIFFERENT_WORDS * cpu.words.length) return null;
  return `it recognizes other words than the CPU: ${different} of ${cpu.words.length} differ`;
}

/**
 * Returns the digest for which results of a GPU backend stay valid: of the CPU, the GPUs, their drivers and libraries.
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
  return shortDigest(hash);
}
