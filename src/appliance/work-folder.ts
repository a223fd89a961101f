import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DataDirectory, DataPaths } from "../storage/index.ts";

const prefix = "transcribe-run-";

/** Time in which one that was just made has its lock. */
const newMilliseconds = 60_000;

/**
 * A data directory for one command, gone when it is disposed of. Those that killed commands left in the same place are
 * removed first: they are ours, and their lock is free.
 * @param parent e.g. the system's directory for temporary files
 */
export function temporaryDataDirectory(parent: string, now: number): { directory: DataDirectory } & Disposable {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) {
    const path = join(parent, name);
    if (isLeftOver(path, now)) rmSync(path, { recursive: true, force: true });
  }
  const path = mkdtempSync(join(parent, prefix));
  const directory = new DataDirectory(path);
  const unlock = directory.lock();
  return {
    directory,
    [Symbol.dispose]() {
      unlock();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function isLeftOver(path: string, now: number): boolean {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.() || now - stat.mtimeMs < newMilliseconds) return false;
    lstatSync(new DataPaths(path).lockPath);
    new DataDirectory(path).lock()();
    return true;
  } catch {
    return false;
  }
}
