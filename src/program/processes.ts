import { dlopen, FFIType } from "bun:ffi";
import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { valueOr } from "../text/index.ts";

/**
 * Makes the kernel kill this process when its parent exits for any reason. Does nothing on systems other than Linux.
 */
export function dieWithParent(): void {
  if (process.platform !== "linux") return;
  const setParentDeathSignal = 1;
  const killSignal = 9;
  const libc = dlopen("libc.so.6", { prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } });
  libc.symbols.prctl(setParentDeathSignal, killSignal);
}

/** Default increment on the scale of nice(1). */
const DEFAULT_NICENESS = 10;

/**
 * Gives a process a lower scheduling priority than this one has now. Responses need some milliseconds, while other
 * processes use all processors for minutes. Processes and threads that it starts later inherit the priority.
 * @param processId this process when omitted
 * @param niceness increment; the resulting niceness is at most 19
 */
export function yieldProcessor(processId = 0, niceness = DEFAULT_NICENESS): void {
  try {
    setPriority(processId, Math.min(19, getPriority() + niceness));
  } catch {
    // The process may have exited, or the system may not allow the change.
  }
}

/**
 * Returns the resident memory of another process in bytes; null if it has exited or the system has no /proc (proc(5)).
 */
export function residentBytes(pid: number | null): number | null {
  const status = pid === null ? "" : valueOr(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
