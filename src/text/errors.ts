/**
 * An error that the operator or user can fix; its message gives the reason and the next step. A command prints the
 * message without a stack.
 */
export class ExpectedError extends Error {}

/** Returns the code of an error of the system, SQLite or the runtime, e.g. `ENOENT`; empty for any other value. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Returns an error's message without its name and stack, or any other thrown value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether an error comes from a system call, such as a write to a full disk. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Returns what a function returns, or the fallback if it throws. For facts whose absence is no fault. */
export function valueOr<T, F>(read: () => T, fallback: F): T | F {
  try {
    return read();
  } catch {
    return fallback;
  }
}

/** Waits for a promise until the signal aborts. @throws the signal's reason when it is aborted */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
