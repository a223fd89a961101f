import { InterruptedError } from "../command-error.ts";

/**
 * Does work that a signal ends in order: the first SIGINT or SIGTERM aborts it with an {InterruptedError}, a second one
 * ends the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (name: "SIGINT" | "SIGTERM") => () => {
    const error = new InterruptedError("", name);
    if (controller.signal.aborted) process.exit(error.exitCode);
    controller.abort(error);
  };
  const handlers = { SIGINT: interrupt("SIGINT"), SIGTERM: interrupt("SIGTERM") };
  process.on("SIGINT", handlers.SIGINT).on("SIGTERM", handlers.SIGTERM);
  try {
    return await work(controller.signal);
  } finally {
    process.off("SIGINT", handlers.SIGINT).off("SIGTERM", handlers.SIGTERM);
  }
}

/** The same interruption with a word on what goes on without us. */
export function interruptedWith(reason: unknown, message: string): unknown {
  if (!(reason instanceof InterruptedError)) return reason;
  return new InterruptedError(message, reason.exitCode === 130 ? "SIGINT" : "SIGTERM");
}
