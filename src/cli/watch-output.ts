import { exitCodes } from "./command-error.ts";

/** Exit code after SIGPIPE: 128 plus the signal's number, as in shells. */
const readerGone = 141;

/**
 * Exits the process when standard output can't be written. Prints the reason, except when the reader of a pipe exited:
 * then it exits silently, like other programs in a pipe. Errors of standard error are ignored.
 */
export function watchOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(readerGone);
    process.stderr.write(`transcribe: standard output can't be written: ${message}\n`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on("error", () => {});
}
