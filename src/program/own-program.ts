import { accessSync, constants } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { embedded } from "./embedded.ts";

/** Version of this program, as `transcribe version` prints it. */
export const programVersion: string = packageJson.version;

/** The root of the checkout that the program runs from. */
export const checkout: string = resolve(import.meta.dir, "../..");

/** Whether this program is compiled into one file. */
export const isCompiled = embedded !== null;

/** Path of the single file of a compiled program; null from source. */
export const programFile: string | null = isCompiled ? process.execPath : null;

/** Advice for a missing or damaged part of the program, as the end of a sentence. */
export const renewal: string = isCompiled
  ? "unpack the program again with: transcribe doctor --fix"
  : "run scripts/setup";

/**
 * Returns the command line that starts this program again with other arguments. From source, the runtime's own path
 * comes first, followed by the entry file, because `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  return isCompiled ? [ownExecutable(), ...args] : [ownExecutable(), join(checkout, "src/main.ts"), ...args];
}

/**
 * Returns the path of this executable. A process that dropped root's rights may be unable to reach it by its own path,
 * but the kernel's link still works.
 */
function ownExecutable(): string {
  try {
    accessSync(process.execPath, constants.X_OK);
    return process.execPath;
  } catch {
    return "/proc/self/exe";
  }
}
