import { exitCodes } from "./command-error.ts";

/** 128 and SIGPIPE's number, as shells count. */
const readerGone = 141;

/**
 * From now on the process ends when what it prints can't be written: with a line that says why, or, like any program in a
 * pipe, without a word when who read it has gone. Progress and errors that can't be written are left out.
 */
export function watchOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(readerGone);
    process.stderr.write(`transcribe: standard output can't be written: ${message}\n`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on("error", () => {});
}
