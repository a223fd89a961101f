import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The user's directory for what can be made again (XDG base directories), made if need be.
 * @returns null for a user without a home that can be written to
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
