import { isCrashSignal, type WorkerDeath } from "../engine/index.ts";

/** Whether a worker crashed, and a GPU's driver may be to blame; an illegal instruction is the CPU variant's fault. */
export function mayBeDriversCrash({ signal }: WorkerDeath): boolean {
  return signal !== null && signal !== "SIGILL" && isCrashSignal(signal);
}

/** Why a worker ended, for the log. */
export function reasonOfEnd({ gpuFailure, stalled, signal }: WorkerDeath): string {
  return gpuFailure?.message ?? (stalled === true ? "it came to no end" : `the worker ended with ${signal}`);
}
