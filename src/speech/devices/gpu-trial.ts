import { messageOf } from "../../text/index.ts";
import type { Failure } from "./attempt.ts";
import { addVerdicts, failureVerdict, readVerdicts } from "./verdicts.ts";

/** How a GPU did beside the CPU. */
export type GpuTrial = Worked | Failure;

interface Worked {
  readonly ok: true;
  /** For the sample. */
  readonly seconds: number;
  /** The CPU, for the same. */
  readonly cpuSeconds: number;
}

/** What a trial takes its sound from. */
export interface SampleOptions {
  /** Calls back with the path of a sample of English: 16 kHz mono signed 16-bit. Only asked where something is tried. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal;
}

/** Tries a GPU with the sample. Whatever keeps it from being tried, there is the CPU. @throws only the signal's reason */
export async function tryWithSample(
  { withSample, signal }: SampleOptions,
  tryWith: (pcmPath: string) => Promise<GpuTrial>,
): Promise<GpuTrial> {
  try {
    return await withSample(tryWith);
  } catch (error) {
    signal?.throwIfAborted();
    return { ok: false, reason: messageOf(error), lasting: false, late: false };
  }
}

/** What has come of a trial in which both had an answer. @param fault what is wrong with the GPU's; null: nothing */
export function judgeGpu(fault: string | null, seconds: number, cpuSeconds: number): GpuTrial {
  return fault === null ? { ok: true, seconds, cpuSeconds } : { ok: false, reason: fault, lasting: true, late: false };
}

/** What is wrong with a GPU that has to be faster than the CPU; null: it is. */
export function slowness(seconds: number, cpuSeconds: number): string | null {
  if (seconds < cpuSeconds) return null;
  return `it is no faster than the CPU: ${seconds.toFixed(2)} s against ${cpuSeconds.toFixed(2)} s`;
}

/**
 * Why a GPU is not used, by the verdict that is kept under this key, or else by a trial, whose verdict is kept.
 * @param library what the verdict is on, for people who read the file
 * @returns null where it is used
 */
export async function faultOf(
  verdictsPath: string,
  key: string,
  library: string,
  tryGpu: () => Promise<GpuTrial>,
): Promise<string | null> {
  const kept = readVerdicts(verdictsPath)[key];
  if (kept !== undefined) return kept.state === "works" ? null : kept.reason;
  const trial = await tryGpu();
  const verdict = trial.ok
    ? ({ library, score: 0, state: "works", reason: "" } as const)
    : failureVerdict(library, trial);
  if (verdict !== null) addVerdicts(verdictsPath, { [key]: verdict });
  return trial.ok ? null : trial.reason;
}
