import { endingSignals, InterruptedError } from "../command-error.ts";

const signals = Object.keys(endingSignals) as (keyof typeof endingSignals)[];

/**
 * Does work that a signal ends in order: the first SIGINT, SIGTERM or SIGHUP aborts it with an {InterruptedError}, a second
 * one ends the process at once.
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

/** The same interruption with a word on what goes on without us; any other error as it is. */
export function interruptedWith(error: unknown, message: string): unknown {
  return error instanceof InterruptedError ? new InterruptedError(message, error.signal) : error;
}
