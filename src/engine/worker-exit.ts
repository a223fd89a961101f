import type { GpuFailure, WorkerRole, WorkerStart } from "../operations/index.ts";

/** The operations that a worker is running, by their ids. */
export interface RunningOperations {
  /** Operations that run the recognizer, on the GPU where there is one. */
  readonly speech: readonly number[];
  readonly others: readonly number[];
}

/** The end of a worker's process. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Set when the process hangs in a driver, where no signal ends it: it may still exist. */
  readonly abandoned?: true;
  /** Set when the kernel killed the process for lack of memory. */
  readonly killedForMemory?: true;
}

/** An unexpected exit of a worker. */
export interface UnexpectedExit extends ProcessExit {
  /** Role of the worker, where several workers share the operations. */
  readonly role?: WorkerRole;
  /** Label of the worker's GPU, where the worker has one. */
  readonly gpu?: string;
  /** The GPU's error, where the worker was killed because of it. */
  readonly gpuFailure?: GpuFailure;
  /** Set when the worker was killed because it was stuck. */
  readonly stalled?: true;
  /** The operations that may have caused the exit. They keep their ids when they are retried. */
  readonly running?: RunningOperations;
}

/** Returns the parts of a worker's exit that name the worker. */
export function identityOf(start: WorkerStart | null): Pick<UnexpectedExit, "gpu" | "role"> {
  const { gpu, role } = start ?? {};
  return { ...(gpu === undefined ? {} : { gpu: gpu.label }), ...(role === undefined ? {} : { role }) };
}

/** Returns the reason of an exit, for people. @param shortage see `memoryShortage` of the engine's options */
export function describeExit({ killedForMemory, signal, exitCode }: ProcessExit, shortage: () => string): string {
  if (killedForMemory === true) return `the kernel ended the worker: ${shortage()}`;
  return `the worker exited with ${signal ?? `code ${exitCode}`}`;
}

/** Signals of a crash. SIGKILL is not among them: it comes from outside, often because memory is short. */
const crashSignals: readonly (string | number)[] = ["SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGTRAP"];

/** Returns whether a process that ended with this signal crashed by itself. */
export function isCrashSignal(signal: string | number): boolean {
  return crashSignals.includes(signal);
}
