import { join } from "node:path";
import { root } from "./checkout.ts";

/** The compiled program that tests run instead of the source. `scripts/test --binary` sets its path. */
const { TEST_PROGRAM: program, TEST_RUNTIME_DIR: runtimeDirectory } = process.env;
/** The entry of the program from source: a bundle that `scripts/test` made of it, or the source itself. */
const entry = process.env.TEST_BUNDLE ?? join(root, "src/main.ts");

/** Whether the tests run the source, and not the compiled program. */
export const isFromSource = program === undefined;

/** Returns the command line of the program under test. */
export function programCommand(...args: readonly string[]): string[] {
  if (program !== undefined) return [program, ...args];
  return [process.execPath, "--no-env-file", entry, ...args];
}

/** Settings with which the compiled program does not unpack itself for the data directory of every test. */
export const programSettings: Readonly<Record<string, string>> =
  runtimeDirectory === undefined ? {} : { TRANSCRIBE_STORAGE_RUNTIME_DIR: runtimeDirectory };
