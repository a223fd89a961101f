import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { DataPaths } from "./data-directory.ts";

/** Usage of a data directory's disk, in bytes. */
export interface DiskFigures {
  /** Free space for this user. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** The database file and its write-ahead log. */
  readonly databaseBytes: number;
  /** Total size of the files in each folder, by folder name. */
  readonly folders: Readonly<Record<string, number>>;
}

const figuresMilliseconds = 5_000;
const foldersMilliseconds = 60_000;
/** Minimum ratio of the pause after a measurement to the time that the measurement took. */
const restShare = 50;

/**
 * Cached figures of a disk. Walking through many files is slow, so each figure is measured only after a minimum time.
 */
export class DiskUsage {
  readonly #paths: DataPaths;
  readonly #figures: Remembered<Omit<DiskFigures, "folders">>;
  readonly #folders: Remembered<DiskFigures["folders"]>;

  /** @param now milliseconds of a monotonic clock */
  constructor(paths: DataPaths, now: () => number) {
    this.#paths = paths;
    this.#figures = new Remembered(figuresMilliseconds, now, () => this.#lookUp());
    this.#folders = new Remembered(foldersMilliseconds, now, () => this.#walk());
  }

  async read(): Promise<DiskFigures> {
    const [figures, folders] = await Promise.all([this.#figures.get(), this.#folders.get()]);
    return { ...figures, folders };
  }

  async #lookUp() {
    const { root, databasePath } = this.#paths;
    const [disk, ...database] = await Promise.all([
      statfs(root),
      ...["", "-wal"].map((end) => sizeOf(databasePath + end)),
    ]);
    return {
      freeBytes: disk.bavail * disk.bsize,
      sizeBytes: disk.blocks * disk.bsize,
      databaseBytes: sum(database),
    };
  }

  async #walk() {
    const { uploads, incoming, work, playback, models } = this.#paths;
    const named = { uploads, incoming, work, listening: playback, models };
    const sizes = Object.entries(named).map(async ([name, path]) => [name, await sizeOfFolder(path)] as const);
    return Object.fromEntries(await Promise.all(sizes));
  }
}

/** A result that is cached for a while; callers during a measurement wait for the same result. */
class Remembered<T> {
  readonly #milliseconds: number;
  readonly #now: () => number;
  readonly #ask: () => Promise<T>;
  #answer: Promise<T> | null = null;
  #until = 0;

  constructor(milliseconds: number, now: () => number, ask: () => Promise<T>) {
    this.#milliseconds = milliseconds;
    this.#now = now;
    this.#ask = ask;
  }

  get(): Promise<T> {
    const now = this.#now();
    if (this.#answer === null || now >= this.#until) {
      this.#until = now + this.#milliseconds;
      this.#answer = this.#ask();
      this.#answer.then(
        () => this.#rest(this.#now() - now),
        () => {},
      );
    }
    return this.#answer;
  }

  /** @param taken duration of the last measurement in milliseconds */
  #rest(taken: number): void {
    this.#until = Math.max(this.#until, this.#now() + restShare * taken);
  }
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

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
