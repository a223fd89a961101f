import { join } from "node:path";
import { root } from "./checkout.ts";

/** The program in one file that tests run in place of the source; `scripts/test --binary` names it. */
const { TEST_PROGRAM: program, TEST_RUNTIME_DIR: runtimeDirectory } = process.env;

/** Whether it is the source that is tested. */
export const isFromSource = program === undefined;

/** The command line of the program under test. */
export function programCommand(...args: readonly string[]): string[] {
  if (program !== undefined) return [program, ...args];
  return [process.execPath, "--no-env-file", join(root, "src/main.ts"), ...args];
}

/** Settings that spare the program in one file from unpacking itself for every test's data directory. */
export const programSettings: Readonly<Record<string, string>> =
  runtimeDirectory === undefined ? {} : { TRANSCRIBE_STORAGE_RUNTIME_DIR: runtimeDirectory };
