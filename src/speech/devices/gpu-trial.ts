import { messageOf } from "../../text/index.ts";
import type { Failure } from "./attempt.ts";
import { addVerdicts, failureVerdict, readVerdicts } from "./verdicts.ts";

/** Result of comparing a GPU with the CPU. */
export type GpuTrial = Worked | Failure;

interface Worked {
  readonly ok: true;
  /** Time of the GPU for the sample. */
  readonly seconds: number;
  /** Time of the CPU for the same sample. */
  readonly cpuSeconds: number;
}

/** Source of the sample for a self-test. */
export interface SampleOptions {
  /** Calls `use` with the path of an English sample: 16 kHz mono signed 16-bit. Only called if a self-test runs. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal;
}

/**
 * Tests a GPU with the sample. Any error becomes a failed result, because the CPU is the fallback.
 * @throws only the signal's reason
 */
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

/**
 * Returns the result of a self-test in which GPU and CPU both gave an answer.
 * @param fault the fault in the GPU's answer; null if there is none
 */
export function judgeGpu(fault: string | null, seconds: number, cpuSeconds: number): GpuTrial {
  return fault === null ? { ok: true, seconds, cpuSeconds } : { ok: false, reason: fault, lasting: true, late: false };
}

/** Returns the fault of a GPU that is not faster than the CPU; null if it is faster. */
export function slowness(seconds: number, cpuSeconds: number): string | null {
  if (seconds < cpuSeconds) return null;
  return `it is no faster than the CPU: ${seconds.toFixed(2)} s against ${cpuSeconds.toFixed(2)} s`;
}

/**
 * Returns the reason why a GPU is not used. Uses the verdict stored under this key; if there is none, runs the
 * self-test and stores its verdict.
 * @param library name of the tested library, for people who read the file
 * @returns null if the GPU is used
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
