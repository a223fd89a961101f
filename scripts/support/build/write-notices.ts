import { createHash } from "node:crypto";
import { join } from "node:path";
import { makeCacheEntry } from "../../../src/models/cache-entry.ts";
import type { Notice } from "../../../src/program/index.ts";

/** Writes the notices into a file of the cache that is named by its content. @returns its path */
export async function writeNotices(notices: readonly Notice[], cacheRoot: string): Promise<string> {
  const content = JSON.stringify(notices);
  const entry = join("notices", createHash("sha256").update(content).digest("hex"));
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    await Bun.write(join(directory, "notices.json"), content);
  });
  return join(folder, "notices.json");
}

/**
 * Holds that code of every package that was compiled in has its notice.
 * @param inputs files that code was taken from
 * @throws Error that names the packages without
 */
export function requireNotices(inputs: readonly string[], notices: readonly Notice[]): void {
  const known = new Set(notices.map(({ name }) => name));
  const packages = new Set(inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  if (packages.size === 0) throw new Error("the bundler names no package that it took code from");
  const missing = [...packages].filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`no notice is there of ${missing.join(", ")}`);
}
