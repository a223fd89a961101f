/** How a command of this program may end, as its help says. */
export const exitCodes = {
  failed: 1,
  /** The command line or the settings are wrong. */
  usage: 2,
  /** A recording was processed and ended as `failed`. */
  recordingFailed: 3,
  /** No server answers, or none that speaks our API. */
  unreachable: 4,
  /** The key is missing, not valid, or may not do this. */
  refused: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit code of several faults: their own where it is the same, else that something failed. */
export function commonExitCode(codes: readonly ExitCode[]): ExitCode {
  const [first = exitCodes.failed] = codes;
  return codes.every((code) => code === first) ? first : exitCodes.failed;
}

/** A command that can't do what it is asked for; the message says why and what to do next. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Signals that end a command in order, with their numbers. */
export const endingSignals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** The command was told to stop by a signal; the message says what goes on without it, and may be empty. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: keyof typeof endingSignals;

  constructor(message: string, signal: keyof typeof endingSignals) {
    super(message);
    this.signal = signal;
  }

  /** 128 and the signal's number, as shells count. */
  get exitCode(): number {
    return 128 + endingSignals[this.signal];
  }
}
