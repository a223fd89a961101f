import { join } from "node:path";
import { checkout } from "./checkout.ts";
import { embedded } from "./embedded.ts";

/**
 * Command line that starts this same program again with other arguments. From source, the runtime's own path comes first
 * and the entry has to be passed; `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  if (embedded !== null) return [process.execPath, ...args];
  return [process.execPath, join(checkout, "src/main.ts"), ...args];
}
