import { readFileSync, writeFileSync } from "node:fs";

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const ticksPerSecond = 100;
/** Looking oftener takes time from what is looked at. */
const lookMilliseconds = 100;

/** CPU time that a process has taken, with that of its children that have ended, in seconds; 0 where it is gone. */
export function cpuSecondsOf(pid: number): number {
  // The name, which may hold anything, ends with the last parenthesis; fields from the third on follow.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\)\s/s, "")
    .split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / ticksPerSecond;
}

/** The most resident memory that a process has had, in bytes; 0 where it is gone. */
export function peakBytesOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** The resident memory of a process, in bytes; 0 where it is gone. */
export function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** When a process was started, in milliseconds since the epoch, to a hundredth of a second; null where it is gone. */
export function startedAt(pid: number): number | null {
  const ticks = read(`/proc/${pid}/stat`)
    .replace(/^.*\)\s/s, "")
    .split(" ")[19];
  const [uptimeSeconds] = read("/proc/uptime").split(" ");
  if (ticks === undefined || uptimeSeconds === undefined) return null;
  return Date.now() - 1000 * (Number(uptimeSeconds) - Number(ticks) / ticksPerSecond);
}

/** What a process has held before counts no more. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** The children that a process' main thread has started. */
export function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter((child) => child.trim() !== "")
    .map(Number);
}

/** Watches the memory of processes that come and go, until it is disposed of. */
export class PeakWatch implements Disposable {
  /** The most of any process, by its name. */
  readonly peakBytes: Record<string, number> = {};
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param processes those that are there, each with a name */
  constructor(processes: () => readonly (readonly [name: string, pid: number])[]) {
    this.#timer = setInterval(() => {
      for (const [name, pid] of processes()) {
        this.peakBytes[name] = Math.max(this.peakBytes[name] ?? 0, peakBytesOf(pid));
      }
    }, lookMilliseconds);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The name of a process' program: `ffmpeg`. */
export function programOf(pid: number): string {
  return read(`/proc/${pid}/comm`).trim();
}

/** The arguments that a process was started with. */
export function commandOf(pid: number): string[] {
  return read(`/proc/${pid}/cmdline`).split("\0");
}

/** Processes come and go. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
