/** SIGKILL is none of them: it comes from outside, often for want of memory. */
const crashSignals: ReadonlySet<string | number> = new Set([
  "SIGILL",
  "SIGSEGV",
  "SIGBUS",
  "SIGFPE",
  "SIGABRT",
  "SIGTRAP",
]);

/** Whether a process that ended with this signal brought it upon itself. */
export function isCrashSignal(signal: string | number): boolean {
  return crashSignals.has(signal);
}
