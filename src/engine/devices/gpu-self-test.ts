import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { messageOf } from "../../wording/index.ts";
import type { Gpu } from "../protocol.ts";
import { isCpuLibrary, isGpuLibrary } from "../whisper/index.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import { type Hearing, hearingSchema, readAnswer } from "./self-test-answers.ts";
import type { DeviceTrialOptions } from "./try-devices.ts";

export interface GpuTestOptions extends DeviceTrialOptions {
  readonly whisperModel: string;
  /** Calls back with the path of a sample of English: 16 kHz mono signed 16-bit. Only asked where something is tried. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  /** Whether a GPU is of use only where it is faster than the CPU. */
  readonly mustBeFaster: boolean;
  /** How long one may take. */
  readonly timeoutMilliseconds?: number;
}

/** How a GPU did. */
export type GpuTrial =
  | {
      readonly ok: true;
      /** For the sample. */
      readonly seconds: number;
      /** The CPU, for the same. */
      readonly cpuSeconds: number;
    }
  | (Outcome & { readonly ok: false });

type Heard = (Outcome & { readonly ok: false }) | { readonly ok: true; readonly hearing: Hearing };

/** Drivers of GPUs compile their kernels at first use, which takes minutes with some. */
const defaultTimeoutMilliseconds = 300_000;

/** Tries GPUs, one after the other; what the CPU does in comparison it does once. */
export class GpuTester {
  readonly #options: GpuTestOptions;
  #onCpu: Heard | null = null;

  constructor(options: GpuTestOptions) {
    this.#options = options;
  }

  /**
   * Transcribes a sample on a GPU and on the CPU, each in a process of its own: the GPU has to hear the same words, and
   * sooner. @throws only the signal's reason
   */
  async try(gpu: Pick<Gpu, "library" | "environment">): Promise<GpuTrial> {
    const { withSample, signal } = this.#options;
    try {
      return await withSample((sample) => this.#compare(gpu, sample));
    } catch (error) {
      signal?.throwIfAborted();
      // There is the CPU, whatever keeps the GPU from being tried.
      return { ok: false, reason: messageOf(error), lasting: false, late: false };
    }
  }

  async #compare({ library, environment }: Pick<Gpu, "library" | "environment">, sample: string): Promise<GpuTrial> {
    const gpu = await hear(this.#options, sample, [library], environment);
    if (!gpu.ok) return gpu;
    const cpu = this.#onCpu ?? (await hear(this.#options, sample, [], {}));
    if (!cpu.ok) return { ok: false, reason: `the CPU, to compare with: ${cpu.reason}`, lasting: false, late: false };
    this.#onCpu = cpu;
    const fault = difference(gpu.hearing, cpu.hearing, this.#options.mustBeFaster);
    if (fault !== null) return { ok: false, reason: fault, lasting: true, late: false };
    return { ok: true, seconds: gpu.hearing.seconds, cpuSeconds: cpu.hearing.seconds };
  }
}

function difference(gpu: Hearing, cpu: Hearing, mustBeFaster: boolean): string | null {
  if (cpu.words.length === 0) return "the model hears no words in the sample, so that nothing can be compared";
  if (gpu.words.join(" ") !== cpu.words.join(" ")) return "it hears other words than the CPU";
  if (!mustBeFaster || gpu.seconds < cpu.seconds) return null;
  return `it is no faster than the CPU: ${gpu.seconds.toFixed(2)} s against ${cpu.seconds.toFixed(2)} s`;
}

async function hear(
  options: GpuTestOptions,
  sample: string,
  gpuLibrary: readonly string[],
  environment: Gpu["environment"],
): Promise<Heard> {
  const { command, nativeDirectory, cpuLibrary, whisperModel, signal } = options;
  const { timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
  const line = [...command, "speech", nativeDirectory, cpuLibrary, whisperModel, sample, ...gpuLibrary];
  const outcome = await attempt(line, { timeoutMilliseconds, signal, environment });
  return outcome.ok ? { ok: true, hearing: readAnswer(hearingSchema, outcome.output) } : outcome;
}

/** What a verdict on a GPU holds for, beside what the backend's digest says: the GPU, and the model's file. */
export async function gpuVerdictKey(
  { whisperModel, mustBeFaster }: Pick<GpuTestOptions, "whisperModel" | "mustBeFaster">,
  gpu: Gpu,
  backendDigest: string,
): Promise<string> {
  const model = await stat(whisperModel);
  const about = [backendDigest, gpu, whisperModel, model.size, model.mtimeMs, mustBeFaster];
  return createHash("sha256").update(JSON.stringify(about)).digest("hex").slice(0, 32);
}

/** What all that is found out with a GPU backend holds for: CPU, GPUs and drivers, and the libraries by their content. */
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
