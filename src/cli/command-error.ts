import { ExpectedError } from "../text/index.ts";

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
  /** The data directory is a standby's, or another server has taken over. A service manager must not start it again. */
  inactive: 6,
} as const;

/** The exit codes of failures. That of a wrong command line belongs to {UsageError} alone. */
export type FailureCode = Exclude<(typeof exitCodes)[keyof typeof exitCodes], typeof exitCodes.usage>;

/** A command failed; the message has the reason and the next step. */
export class CommandError extends ExpectedError {
  override readonly name: string = "CommandError";
  readonly exitCode: FailureCode;
  /** The reason for programs: a failure reason or an error code of the API, or `local`. */
  readonly code: string;

  constructor(message: string, exitCode: FailureCode = exitCodes.failed, code = "local") {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/**
 * The command line is wrong, whatever is stored and whichever files exist. The message says what to write instead.
 * Parsers of options and arguments throw it, and checks of their combination, before a command does anything.
 */
export class UsageError extends ExpectedError {
  override readonly name = "UsageError";
}

/** Returns the result of a check of the command line's words. @throws {UsageError} for each {ExpectedError} of it */
export function fromCommandLine<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof ExpectedError ? new UsageError(error.message) : error;
  }
}

/**
 * Throws one error for several, if there are any, with their common exit code, or else `failed`.
 * @param summary message for several errors; by default their messages, one per line
 * @throws {CommandError}
 */
export function throwAll(errors: readonly CommandError[], summary?: string): void {
  const [first] = errors;
  if (first === undefined) return;
  const agree = errors.every(({ exitCode }) => exitCode === first.exitCode);
  const message = summary ?? errors.map((error) => error.message).join("\ntranscribe: ");
  throw new CommandError(message, agree ? first.exitCode : exitCodes.failed);
}
