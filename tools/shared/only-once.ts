import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns a command line that fills an entry of the cache, unless another process fills it at the same time: then it waits
 * for that process and does nothing. The entry itself is created by makeCacheEntry.
 */
export function onlyOnce(cacheRoot: string, entry: string, command: readonly string[]): string[] {
  const folder = join(cacheRoot, "tmp");
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, `${createHash("sha256").update(entry).digest("hex").slice(0, 16)}.lock`);
  return ["flock", lock, "sh", "-c", 'test -e "$0" || exec "$@"', join(cacheRoot, entry), ...command];
}
