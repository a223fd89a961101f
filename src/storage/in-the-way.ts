import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DataPaths } from "./data-paths.ts";

/** Entries that a data directory may contain although nothing was recorded in it. */
const harmless = new Set(["lost+found", "server.lock", "runtime", "models", "state", "backups", "incoming"]);
const emptyFolders = new Set(["uploads", "work", "listening"]);

/**
 * Returns the first entry of a data directory that a restore would have to replace or that is not ours; null when there
 * is none.
 */
export function entryBlockingRestore(paths: DataPaths): string | null {
  if (!existsSync(paths.root)) return null;
  for (const name of readdirSync(paths.root)) {
    if (harmless.has(name)) continue;
    if (emptyFolders.has(name) && readdirSync(join(paths.root, name)).length === 0) continue;
    return name;
  }
  return null;
}
