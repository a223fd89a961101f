/** Signals of a crash. SIGKILL is not among them: it comes from outside, often because memory is short. */
const crashSignals: ReadonlySet<string | number> = new Set([
  "SIGILL",
  "SIGSEGV",
  "SIGBUS",
  "SIGFPE",
  "SIGABRT",
  "SIGTRAP",
]);

/** Returns whether a process that ended with this signal crashed by itself. */
export function isCrashSignal(signal: string | number): boolean {
  return crashSignals.has(signal);
}
