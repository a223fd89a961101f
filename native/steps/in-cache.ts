import { lstat, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Creates the directory `target`, unless it exists, and returns its path. `build` works in a temporary directory next
 * to the target and returns the directory to publish, which is then renamed to the target atomically.
 */
export async function inCache(
  target: string,
  log: (line: string) => void,
  build: (work: string) => Promise<string>,
): Promise<string> {
  if (await exists(target)) {
    return target;
  }
  await mkdir(dirname(target), { recursive: true });
  const work = await mkdtemp(join(dirname(target), ".build-"));
  try {
    const built = await build(work);
    await rename(built, target).catch(async (error: unknown) => {
      // A concurrent build may have created the same content first.
      if (!(await exists(target))) {
        throw error;
      }
    });
    log(`native: ready in ${target}`);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

export async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
