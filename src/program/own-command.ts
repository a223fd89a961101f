import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { checkout } from "./checkout.ts";
import { embedded } from "./embedded.ts";

/**
 * Command line that starts this same program again with other arguments. From source, the runtime's own path comes first
 * and the entry has to be passed; `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  if (embedded !== null) return [ownExecutable(), ...args];
  return [ownExecutable(), join(checkout, "src/main.ts"), ...args];
}

/** A process that gave up root's rights may not reach its own file by its path any more, but still through the kernel's link. */
function ownExecutable(): string {
  try {
    accessSync(process.execPath, constants.X_OK);
    return process.execPath;
  } catch {
    return "/proc/self/exe";
  }
}
