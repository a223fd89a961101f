import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What an interrupted run may leave behind is kept no longer than a build could still be using it. */
const LEFTOVER_MS = 24 * 60 * 60 * 1_000;

/**
 * Makes a folder of the cache whole or not at all: `fill` works in a temporary folder beside it, which is then renamed.
 * Where two make the same entry at once, the first stays and the other's is thrown away.
 * `entry` is relative to the cache's root and named by its content, so either is as good. Returns the entry's path.
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
      if (!(await isFolder(path))) throw error;
    }
    return path;
  });
}

/** Takes a broken entry out of the cache at once, so that nobody finds half of it while it is deleted. */
export async function dropCacheEntry(cacheRoot: string, entry: string): Promise<void> {
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

/** Deletes temporary folders that were left by runs which were killed more than a day before `now` (ms). */
export async function sweepTemporaryFolders(cacheRoot: string, now: number): Promise<void> {
  const temporary = join(cacheRoot, "tmp");
  for (const name of await readdir(temporary).catch(() => [])) {
    const path = join(temporary, name);
    const { mtimeMs } = await stat(path);
    if (now - mtimeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
