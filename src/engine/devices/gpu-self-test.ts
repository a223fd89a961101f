import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { messageOf } from "../../wording/index.ts";
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
}

/** How a GPU backend did. */
export type GpuTrial =
  | {
      readonly ok: true;
      /** For the sample. */
      readonly seconds: number;
      /** The CPU, for the same. */
      readonly cpuSeconds: number;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      /** It would end the same way again. */
      readonly lasting: boolean;
    };

type Heard = (Outcome & { readonly ok: false }) | { readonly ok: true; readonly hearing: Hearing };

/** Drivers of GPUs compile their kernels at first use, which takes minutes with some. */
const timeoutMilliseconds = 300_000;

/**
 * Transcribes a sample with a GPU backend and on the CPU, each in a process of its own: the GPU has to hear the same
 * words, and sooner. @throws only the signal's reason
 */
export async function tryGpuLibrary(options: GpuTestOptions, gpuLibrary: string): Promise<GpuTrial> {
  try {
    return await options.withSample((sample) => compare(options, gpuLibrary, sample));
  } catch (error) {
    options.signal?.throwIfAborted();
    // There is the CPU, whatever keeps the GPU from being tried.
    return { ok: false, reason: messageOf(error), lasting: false };
  }
}

async function compare(options: GpuTestOptions, gpuLibrary: string, sample: string): Promise<GpuTrial> {
  const gpu = await hear(options, sample, [gpuLibrary]);
  if (!gpu.ok) return gpu;
  const cpu = await hear(options, sample, []);
  if (!cpu.ok) return { ok: false, reason: `the CPU, to compare with: ${cpu.reason}`, lasting: false };
  const fault = difference(gpu.hearing, cpu.hearing, options.mustBeFaster);
  if (fault !== null) return { ok: false, reason: fault, lasting: true };
  return { ok: true, seconds: gpu.hearing.seconds, cpuSeconds: cpu.hearing.seconds };
}

function difference(gpu: Hearing, cpu: Hearing, mustBeFaster: boolean): string | null {
  if (cpu.words.length === 0) return "the model hears no words in the sample, so that nothing can be compared";
  if (gpu.words.join(" ") !== cpu.words.join(" ")) return "it hears other words than the CPU";
  if (!mustBeFaster || gpu.seconds < cpu.seconds) return null;
  return `it is no faster than the CPU: ${gpu.seconds.toFixed(2)} s against ${cpu.seconds.toFixed(2)} s`;
}

async function hear(options: GpuTestOptions, sample: string, gpuLibrary: readonly string[]): Promise<Heard> {
  const { command, nativeDirectory, cpuLibrary, whisperModel, signal } = options;
  const line = [...command, "speech", nativeDirectory, cpuLibrary, whisperModel, sample, ...gpuLibrary];
  const outcome = await attempt(line, timeoutMilliseconds, signal);
  return outcome.ok ? { ok: true, hearing: readAnswer(hearingSchema, outcome.output) } : outcome;
}

/** What a verdict on a GPU backend holds for: CPU, GPUs and drivers, the model's file, and the libraries by their content. */
export async function gpuVerdictKey(options: GpuTestOptions, gpuLibrary: string): Promise<string> {
  const { nativeDirectory, cpuLibrary, whisperModel, mustBeFaster } = options;
  const model = await stat(whisperModel);
  const hash = createHash("sha256");
  const about = [cpuIdentity(), gpuIdentity(), whisperModel, model.size, model.mtimeMs, mustBeFaster];
  hash.update(JSON.stringify(about));
  if (isAbsolute(gpuLibrary)) hash.update(await readFile(gpuLibrary).catch(() => ""));
  for (const name of (await readdir(nativeDirectory)).sort()) {
    const isOther = (isCpuLibrary(name) && name !== cpuLibrary) || (isGpuLibrary(name) && name !== gpuLibrary);
    if (!isOther) hash.update(await readFile(join(nativeDirectory, name)));
  }
  return hash.digest("hex").slice(0, 32);
}
