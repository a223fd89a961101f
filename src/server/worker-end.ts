import { isCrashSignal, type WorkerDeath } from "../engine/index.ts";

/**
 * Reports whether a worker crashed in a way that a GPU's driver may have caused; an illegal instruction is the CPU
 * variant's fault.
 */
export function mayBeDriversCrash({ signal }: WorkerDeath): boolean {
  return signal !== null && signal !== "SIGILL" && isCrashSignal(signal);
}

/** Returns the reason for a worker's end, for the log. */
export function reasonOfEnd({ gpuFailure, stalled, signal }: WorkerDeath): string {
  return gpuFailure?.message ?? (stalled === true ? "it came to no end" : `the worker ended with ${signal}`);
}
