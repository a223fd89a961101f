import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { DataPaths } from "./data-directory.ts";

/** Usage of a data directory's disk, in bytes. */
interface DiskFigures {
  /** Free space for this user. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** The database file and its write-ahead log. */
  readonly databaseBytes: number;
  /** Total size of the files in each folder, by folder name. */
  readonly folders: Readonly<Record<string, number>>;
}

const FIGURES_MILLISECONDS = 5_000;
const FOLDERS_MILLISECONDS = 60_000;
/** Minimum ratio of the pause after a measurement to the time that the measurement took. */
const PAUSE_RATIO = 50;

/** Cached figures of a disk: walking through many files is slow, so each figure is measured only after a while. */
export class DiskUsage {
  readonly #figures: () => Promise<Omit<DiskFigures, "folders">>;
  readonly #folders: () => Promise<DiskFigures["folders"]>;

  /** @param now milliseconds of a monotonic clock */
  constructor(paths: DataPaths, now: () => number) {
    this.#figures = cached(FIGURES_MILLISECONDS, now, () => measureDisk(paths));
    this.#folders = cached(FOLDERS_MILLISECONDS, now, () => measureFolders(paths));
  }

  async read(): Promise<DiskFigures> {
    const [figures, folders] = await Promise.all([this.#figures(), this.#folders()]);
    return { ...figures, folders };
  }
}

async function measureDisk({ root, databasePath }: DataPaths) {
  const [disk, database, log] = await Promise.all([statfs(root), sizeOf(databasePath), sizeOf(`${databasePath}-wal`)]);
  const { bavail, blocks, bsize } = disk;
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize, databaseBytes: database + log };
}

async function measureFolders({ uploads, incoming, work, playback, live, models }: DataPaths) {
  const folders = { uploads, incoming, work, listening: playback, live, models };
  const sizes = Object.entries(folders).map(async ([name, path]) => [name, await sizeOfFolder(path)] as const);
  return Object.fromEntries(await Promise.all(sizes));
}

/**
 * Returns a function whose result is cached for a while, longer after a slow measurement. Callers during a measurement
 * wait for the same result.
 */
function cached<T>(milliseconds: number, now: () => number, measure: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  let until = 0;
  return () => {
    const startedAt = now();
    if (result !== null && startedAt < until) return result;
    until = startedAt + milliseconds;
    const measuring = measure();
    const pause = () => {
      const endedAt = now();
      until = Math.max(until, endedAt + PAUSE_RATIO * (endedAt - startedAt));
    };
    measuring.then(pause, () => {});
    result = measuring;
    return measuring;
  };
}

/** Returns a file's size, or 0 for a file that was removed since it was listed. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

async function sizeOfFolder(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
  let total = 0;
  // Sequentially: a hundred thousand calls at once would take the memory and threads that uploads need.
  for (const entry of entries) if (entry.isFile()) total += await sizeOf(join(entry.parentPath, entry.name));
  return total;
}
