import { readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";

/** Ticks per second in /proc, whatever the kernel's own clock is (USER_HZ). */
const TICKS_PER_SECOND = 100;
/** Interval between two samples; more frequent sampling takes time from the processes that are measured. */
const SAMPLE_MILLISECONDS = 100;

/** Returns the CPU time of a process and of its children that have exited, in seconds; 0 when the process is gone. */
export function cpuSecondsOf(pid: number): number {
  const ticks = statOf(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}

/** Returns the peak resident memory of a process in bytes; 0 when the process is gone. */
export function peakBytesOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the resident memory of a process in bytes; 0 when the process is gone. */
export function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the start time of a process in milliseconds since the epoch, rounded to 10 ms; null when it is gone. */
export function startedAt(pid: number): number | null {
  const ticks = statOf(pid)[19];
  const [uptimeSeconds] = read("/proc/uptime").split(" ");
  if (ticks === undefined || uptimeSeconds === undefined) return null;
  return Date.now() - 1000 * (Number(uptimeSeconds) - Number(ticks) / TICKS_PER_SECOND);
}

/** Resets the peak resident memory that the kernel stores for a process. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Returns the children that the main thread of a process has started. */
export function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter((child) => child.trim() !== "")
    .map(Number);
}

/** Returns a process and all its descendants. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

/** Stops a process and its descendants (SIGSTOP). @returns a function that lets them continue */
export function suspend(pid: number): () => void {
  const all = familyOf(pid);
  const send = (signal: NodeJS.Signals) => {
    for (const each of all) {
      try {
        process.kill(each, signal);
      } catch {
        // It has exited meanwhile.
      }
    }
  };
  send("SIGSTOP");
  return () => send("SIGCONT");
}

/** Returns the name of the program that a process runs, for example `ffmpeg`. */
export function programOf(pid: number): string {
  return read(`/proc/${pid}/comm`).trim();
}

/** Returns the arguments with which a process was started. */
export function commandOf(pid: number): string[] {
  return read(`/proc/${pid}/cmdline`).split("\0");
}

/** Samples the memory of short-lived processes until it is disposed of. */
export class PeakWatch implements Disposable {
  /** Peak resident memory by name of the process. */
  readonly peakBytes: Record<string, number> = {};
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param processes returns the running processes, each with a name */
  constructor(processes: () => readonly (readonly [name: string, pid: number])[]) {
    this.#timer = setInterval(() => {
      for (const [name, pid] of processes()) {
        this.peakBytes[name] = Math.max(this.peakBytes[name] ?? 0, peakBytesOf(pid));
      }
    }, SAMPLE_MILLISECONDS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Returns the fields of /proc/PID/stat from the third on: state, parent and others (proc(5)). The name before them may contain spaces. */
export function statOf(pid: number): string[] {
  return read(`/proc/${pid}/stat`)
    .replace(/^.*\)\s/s, "")
    .split(" ");
}

/** Returns the text of a file; empty when its process has exited. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const cleanups = new Set<() => unknown>();
let isListening = false;
let stopping = false;

/**
 * Registers a function that runs when a signal ends this process, until the returned object is disposed of. The function
 * that was registered last runs first. A function that is registered again keeps its place.
 */
export function beforeStop(cleanup: () => unknown): Disposable {
  if (!isListening) for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  isListening = true;
  cleanups.add(cleanup);
  return { [Symbol.dispose]: () => void cleanups.delete(cleanup) };
}

/** Returns whether a signal is ending this process, which exits after its cleanups. */
export function isStopping(): boolean {
  return stopping;
}

function stop(signal: keyof typeof constants.signals): void {
  if (stopping) return;
  stopping = true;
  void cleanUp().finally(() => process.exit(128 + constants.signals[signal]));
}

async function cleanUp(): Promise<void> {
  for (const cleanup of [...cleanups].reverse()) {
    try {
      await cleanup();
    } catch (error) {
      console.error(error);
    }
  }
}
