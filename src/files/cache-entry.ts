import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Age from which temporary folders are deleted. A younger folder may still be in use by a running build. */
const MAX_TEMPORARY_AGE_MS = 24 * 60 * 60 * 1_000;

/**
 * Creates a folder of the cache atomically: `fill` writes to a temporary folder on the same file system, which is then
 * renamed. If two processes create the same entry at once, the first one stays and the second is deleted. This is safe
 * for entries named by their content; other callers must check which one stayed.
 * @param entry path relative to the cache's root
 * @returns the entry's path
 */
export async function makeCacheEntry(
  cacheRoot: string,
  entry: string,
  fill: (directory: string) => Promise<void>,
): Promise<string> {
  return await withTemporaryFolder(cacheRoot, async (temporary) => {
    const filled = join(temporary, "entry");
    await mkdir(filled);
    await fill(filled);
    const path = join(cacheRoot, entry);
    await mkdir(dirname(path), { recursive: true });
    try {
      await rename(filled, path);
    } catch (error) {
      const existing = await stat(path).catch(() => null);
      if (existing?.isDirectory() !== true) throw error;
    }
    return path;
  });
}

/** Removes an entry from the cache atomically, so that no reader finds an entry that is partially deleted. */
export async function removeCacheEntry(cacheRoot: string, entry: string): Promise<void> {
  await withTemporaryFolder(cacheRoot, (temporary) => rename(join(cacheRoot, entry), join(temporary, "dropped")));
}

/** Runs `use` with a new folder on the cache's file system, and deletes it afterwards. */
export async function withTemporaryFolder<T>(cacheRoot: string, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = join(cacheRoot, "tmp", randomUUID());
  await mkdir(directory, { recursive: true });
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Deletes temporary folders of killed runs: those last modified more than 24 hours before `now` (ms). */
export async function removeOldTemporaryFolders(cacheRoot: string, now: number): Promise<void> {
  const temporary = join(cacheRoot, "tmp");
  for (const name of await readdir(temporary).catch(() => [])) {
    const path = join(temporary, name);
    const { mtimeMs } = await stat(path);
    if (now - mtimeMs > MAX_TEMPORARY_AGE_MS) await rm(path, { recursive: true, force: true });
  }
}
