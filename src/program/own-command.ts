import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { checkout } from "./checkout.ts";
import { embedded } from "./embedded.ts";

/**
 * Returns the command line that starts this program again with other arguments. From source, the runtime's own path
 * comes first, followed by the entry file, because `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  if (embedded !== null) return [ownExecutable(), ...args];
  return [ownExecutable(), join(checkout, "src/main.ts"), ...args];
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
