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
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command failed; the message has the reason and the next step. */
export class CommandError extends ExpectedError {
  override readonly name: string = "CommandError";
  readonly exitCode: ExitCode;
  /** The reason for programs: a failure reason or an error code of the API, or `local`. */
  readonly code: string;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, code = "local") {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
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
