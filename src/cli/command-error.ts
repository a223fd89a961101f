/** Exit codes of the commands, as documented in the help. */
export const exitCodes = {
  failed: 1,
  /** The command line or the settings are wrong. */
  usage: 2,
  /** A recording was processed and failed. */
  recordingFailed: 3,
  /** No server answers, or the server does not provide this API. */
  unreachable: 4,
  /** The key is missing, invalid, or lacks the permission. */
  refused: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the exit code of several faults: their common code if they agree, else `failed`. */
export function commonExitCode(codes: readonly ExitCode[]): ExitCode {
  const [first = exitCodes.failed] = codes;
  return codes.every((code) => code === first) ? first : exitCodes.failed;
}

/** A command failed; the message has the reason and the next step. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Signals that stop a command gracefully, with their numbers. */
export const endingSignals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A signal stopped the command; the message lists what continues without it, and may be empty. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: keyof typeof endingSignals;

  constructor(message: string, signal: keyof typeof endingSignals) {
    super(message);
    this.signal = signal;
  }

  /** Returns 128 plus the signal's number, as shells do. */
  get exitCode(): number {
    return 128 + endingSignals[this.signal];
  }
}
