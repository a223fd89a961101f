import { readFileSync } from "node:fs";

/**
 * Returns the resident memory of another process in bytes; null if it has exited or the system has no /proc (proc(5)).
 */
export function residentBytes(pid: number | null): number | null {
  if (pid === null) return null;
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}
