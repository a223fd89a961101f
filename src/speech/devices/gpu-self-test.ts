import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Gpu } from "../../engine/index.ts";
import { editDistance, messageOf } from "../../text/index.ts";
import { isCpuLibrary, isGpuLibrary } from "../ggml.ts";
import { cpuIdentity } from "./cpu-libraries.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import type { DeviceTestOptions } from "./list-gpus.ts";
import { type Failure, failed, runSelfTest, type SelfTestResult } from "./run-self-test.ts";
import type { SelfTestAnswer } from "./self-tests.ts";
import { addVerdicts, failureVerdict, readVerdicts, shortDigest, verdictKey } from "./verdicts.ts";

/** Result of comparing a GPU with the CPU: the time of a pass over the same sample, or why the GPU is not used. */
export type GpuTestResult = { readonly ok: true; readonly seconds: number; readonly cpuSeconds: number } | Failure;

/** Source of the sample for a self-test. */
export interface SampleOptions {
  /** Calls `use` with the path of an English sample: 16 kHz mono signed 16-bit. Only called if a self-test runs. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
}

export interface GpuTestOptions extends DeviceTestOptions, SampleOptions {
  readonly speechModel: string;
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
   * for a few; it must also be faster if `mustBeFaster` is set. @throws only the signal's reason
   */
  test(gpu: TestedGpu): Promise<GpuTestResult> {
    return testWithSample(this.#options, async (pcmPath) => {
      const onGpu = await this.#transcribe(pcmPath, gpu);
      if (!onGpu.ok) return onGpu;
      const onCpu = this.#onCpu ?? (await this.#transcribe(pcmPath));
      if (!onCpu.ok) return failed(`the CPU, to compare with: ${onCpu.reason}`);
      this.#onCpu = onCpu;
      const fault = difference(onGpu.answer, onCpu.answer);
      return judgeGpu(fault, onGpu.answer.seconds, onCpu.answer.seconds, this.#options.mustBeFaster);
    });
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

/** Tests a GPU with the sample. Any error becomes a failed result. @throws only the signal's reason */
export async function testWithSample(
  { withSample, signal }: SampleOptions,
  test: (pcmPath: string) => Promise<GpuTestResult>,
): Promise<GpuTestResult> {
  try {
    return await withSample(test);
  } catch (error) {
    signal?.throwIfAborted();
    return failed(messageOf(error));
  }
}

/** Returns the result of a self-test. @param fault the fault in the GPU's answer; null if there is none */
export function judgeGpu(
  fault: string | null,
  seconds: number,
  cpuSeconds: number,
  mustBeFaster: boolean,
): GpuTestResult {
  if (fault !== null) return failed(fault, { lasting: true });
  if (!mustBeFaster || seconds < cpuSeconds) return { ok: true, seconds, cpuSeconds };
  const times = `${seconds.toFixed(2)} s against ${cpuSeconds.toFixed(2)} s`;
  return failed(`it is no faster than the CPU: ${times}`, { lasting: true });
}

/**
 * Returns the reason why a GPU is not used, by the stored verdict or else by the self-test; null if the GPU is used.
 * @param library name of the tested library, for people who read the file
 */
export async function faultOf(
  verdictsPath: string,
  key: string,
  library: string,
  test: () => Promise<GpuTestResult>,
): Promise<string | null> {
  const stored = readVerdicts(verdictsPath)[key];
  if (stored !== undefined) return stored.state === "works" ? null : stored.reason;
  const result = await test();
  const verdict = result.ok
    ? ({ library, score: 0, state: "works", reason: "" } as const)
    : failureVerdict(library, result);
  if (verdict !== null) addVerdicts(verdictsPath, { [key]: verdict });
  return result.ok ? null : result.reason;
}

/** Returns the key of a verdict on a GPU; it depends on the backend, the GPU, the model's file and `mustBeFaster`. */
export async function gpuVerdictKey(
  { speechModel, mustBeFaster }: Pick<GpuTestOptions, "speechModel" | "mustBeFaster">,
  gpu: Gpu,
  backendDigest: string,
): Promise<string> {
  const { size, mtimeMs } = await stat(speechModel);
  return verdictKey([backendDigest, gpu, speechModel, size, mtimeMs, mustBeFaster]);
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
