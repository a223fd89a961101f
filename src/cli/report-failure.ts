import { SettingsError } from "../config/index.ts";
import { databaseTrouble } from "../storage/index.ts";
import { ExpectedError } from "../text/index.ts";
import { CommandError, exitCodes, UsageError } from "./command-error.ts";
import { InterruptedError } from "./interrupts.ts";
import { printableText } from "./printable.ts";

/**
 * Prints the message of a command's error.
 * @returns the exit code
 * @throws the error itself when it is a fault of the program
 */
export async function reportFailure(error: unknown): Promise<number> {
  const fault = databaseTrouble(error);
  if (fault !== null) {
    process.stderr.write(`transcribe: can't use the database (${fault}); see: transcribe doctor\n`);
    return exitCodes.failed;
  }
  if (!(error instanceof ExpectedError)) throw error;
  // The message may contain the name of a file, a database or a server, which may have control characters.
  if (error.message !== "") process.stderr.write(`transcribe: ${printableText(error.message)}\n`);
  if (error instanceof InterruptedError) await leave(error.exitCode);
  return exitCodeOf(error);
}

/** Exits the process once its output is written, without waiting for pending work. */
async function leave(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}

function exitCodeOf(error: ExpectedError): number {
  if (error instanceof UsageError || error instanceof SettingsError) return exitCodes.usage;
  if (error instanceof CommandError || error instanceof InterruptedError) return error.exitCode;
  return exitCodes.failed;
}
