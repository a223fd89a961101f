import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, type Stats, writeSync } from "node:fs";
import { BackupError } from "./copy-database.ts";

const COPY_BYTES = 1 << 20;

/**
 * A backup that is open for reading: an archive, or a copy of a database together with its write-ahead log, if any. It
 * is read only through its descriptors, so a process may open it with rights that the process drops afterwards.
 */
export class BackupFile implements Disposable {
  readonly path: string;
  readonly descriptor: number;
  /**
   * Descriptor of SQLite's write-ahead log, with writes that are not in the database file yet; null if there is none,
   * as in our own backups.
   */
  readonly #log: number | null;

  /** @throws {BackupError} when there is no file or it cannot be read */
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

  /** Returns whether the backup is an archive. Any other format is recognized only when the file is read. */
  isArchive(): boolean {
    const head = Buffer.alloc(257 + 5);
    readSync(this.descriptor, head, 0, head.length, 0);
    return head.toString("ascii", 257) === "ustar";
  }

  /**
   * Copies a database that is not an archive, as a database file and its write-ahead log.
   * @throws {BackupError} when a file changes during the copy
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
