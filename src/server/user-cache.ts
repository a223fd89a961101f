import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the user's cache directory (XDG base directories), and creates it if needed.
 * @returns null for a user without a writable home
 */
export function userCache({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | null {
  const path = join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "transcribe");
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK | constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
