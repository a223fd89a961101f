import { ExpectedError } from "../text/index.ts";

/** Signals that stop a command gracefully, with their numbers. */
const endingSignals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type EndingSignal = keyof typeof endingSignals;

/** A signal stopped the command; the message lists what continues without it, and may be empty. */
export class InterruptedError extends ExpectedError {
  override readonly name = "InterruptedError";
  readonly signal: EndingSignal;

  constructor(message: string, signal: EndingSignal) {
    super(message);
    this.signal = signal;
  }

  /** Returns 128 plus the signal's number, as shells do. */
  get exitCode(): number {
    return 128 + endingSignals[this.signal];
  }
}

/**
 * Runs `work` with support for a graceful stop. The first SIGINT, SIGTERM or SIGHUP aborts the work with an
 * {InterruptedError}; a second one exits the process immediately.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signals = Object.keys(endingSignals) as EndingSignal[];
  const controller = new AbortController();
  const interrupt = (name: EndingSignal) => {
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
