import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DataDirectory, DataPaths } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

const prefix = "transcribe-run-";

/** Age below which a directory is never removed, because a new one may not be locked yet. */
const MIN_AGE_MILLISECONDS = 60_000;

/**
 * Creates a data directory for one command; disposing removes it. First removes those that killed commands left in the
 * same place, which are those of the same user whose lock is free.
 * @param parent e.g. the system's directory for temporary files
 * @throws {StartError} if it cannot be created
 */
export function temporaryDataDirectory(parent: string, now: number): { directory: DataDirectory } & Disposable {
  let path: string | null = null;
  try {
    for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) {
      const old = join(parent, name);
      if (isLeftOver(old, now)) rmSync(old, { recursive: true, force: true });
    }
    const created = mkdtempSync(join(parent, prefix));
    path = created;
    const directory = new DataDirectory(created);
    const unlock = directory.lock();
    return {
      directory,
      [Symbol.dispose]() {
        unlock();
        rmSync(created, { recursive: true, force: true });
      },
    };
  } catch (error) {
    if (path !== null) rmSync(path, { recursive: true, force: true });
    const reason = messageOf(error);
    throw new StartError(
      `can't work in ${parent} (${reason}); name a directory with enough disk space: TMPDIR=DIRECTORY`,
    );
  }
}

function isLeftOver(path: string, now: number): boolean {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.() || now - stat.mtimeMs < MIN_AGE_MILLISECONDS)
      return false;
    lstatSync(new DataPaths(path).lockPath);
    new DataDirectory(path).lock()();
    return true;
  } catch {
    return false;
  }
}
