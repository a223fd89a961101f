import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, type Stats, writeSync } from "node:fs";
import { BackupError } from "./copy-database.ts";

const COPY_BYTES = 1 << 20;

/**
 * A backup that is open to be read: an archive, or a copy of a database, whose log is opened too where there is one. It is
 * read by its descriptors alone, so that a process may open it with rights that it then gives up.
 */
export class BackupFile implements Disposable {
  readonly path: string;
  readonly descriptor: number;
  /** SQLite's log of writes that are not in the database's file yet; a backup of ours has none. */
  readonly #log: number | null;

  /** @throws {BackupError} where there is no file that can be read */
  constructor(path: string) {
    this.path = path;
    this.descriptor = openFile(path);
    try {
      this.#log = openLog(`${path}-wal`);
    } catch (error) {
      closeSync(this.descriptor);
      throw error;
    }
  }

  /** Returns whether it is an archive; what else it may be shows when it is read. */
  isArchive(): boolean {
    const head = Buffer.alloc(257 + 5);
    readSync(this.descriptor, head, 0, head.length, 0);
    return head.toString("ascii", 257) === "ustar";
  }

  /**
   * Copies a database that is no archive, as one file and its log.
   * @throws {BackupError} for one that changes meanwhile
   */
  copyDatabaseTo(path: string): void {
    const files = [
      { from: this.descriptor, to: path },
      ...(this.#log === null ? [] : [{ from: this.#log, to: `${path}-wal` }]),
    ];
    const before = files.map(({ from }) => stampOf(fstatSync(from)));
    for (const { from, to } of files) copyTo(from, to);
    if (files.every(({ from }, index) => stampOf(fstatSync(from)) === before[index])) return;
    throw new BackupError(
      `${this.path} changes while it is read: it is in use; stop what uses it, or make a backup of it first`,
    );
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
    if (this.#log !== null) closeSync(this.#log);
  }
}

function openFile(path: string): number {
  let file: number;
  try {
    // Opening a pipe must not wait for a writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") throw new BackupError(`there is no file ${path}`);
    const why = error instanceof Error ? error.message : String(error);
    throw new BackupError(`${path} can't be read (${why})`, { cause: error });
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new BackupError(`there is no file ${path}`);
}

function openLog(path: string): number | null {
  try {
    return openFile(path);
  } catch (error) {
    if (error instanceof BackupError && error.cause === undefined) return null;
    throw error;
  }
}

function stampOf({ size, mtimeMs }: Stats): string {
  return `${size} ${mtimeMs}`;
}

function copyTo(from: number, path: string): void {
  const to = openSync(path, "wx", 0o600);
  try {
    const buffer = Buffer.alloc(COPY_BYTES);
    for (let done = 0; ; ) {
      const count = readSync(from, buffer, 0, buffer.length, done);
      if (count === 0) break;
      for (let written = 0; written < count; ) written += writeSync(to, buffer, written, count - written);
      done += count;
    }
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
}
