import { endingSignals, InterruptedError } from "../command-error.ts";

const signals = Object.keys(endingSignals) as (keyof typeof endingSignals)[];

/**
 * Runs `work` with support for a graceful stop. The first SIGINT, SIGTERM or SIGHUP aborts the work with an
 * {InterruptedError}; a second one exits the process immediately.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (name: (typeof signals)[number]) => {
    const error = new InterruptedError("", name);
    if (controller.signal.aborted) process.exit(error.exitCode);
    controller.abort(error);
  };
  for (const name of signals) process.on(name, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

/** Adds a message to an interruption, such as what continues on the server; returns other errors unchanged. */
export function interruptedWith(error: unknown, message: string): unknown {
  return error instanceof InterruptedError ? new InterruptedError(message, error.signal) : error;
}
