/** Signals that native code brings upon itself; an illegal instruction is the CPU variant's. */
export const nativeCrashes: ReadonlySet<string> = new Set(["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGTRAP"]);
