import { closeSync, constants, fstatSync, fsyncSync, openSync, type Stats } from "node:fs";
import { BackupError } from "../database/index.ts";
import { readAt, readPieces, writeAll } from "../files/index.ts";
import { codeOf, messageOf } from "../text/index.ts";

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
    return readAt(this.descriptor, 257, 5).toString("ascii") === "ustar";
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
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new BackupError(`there is no file ${path}`);
    throw new BackupError(`${path} can't be read (${messageOf(error)})`, { cause: error });
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

const stampOf = ({ size, mtimeMs }: Stats) => `${size} ${mtimeMs}`;

function copyTo(from: number, path: string): void {
  const to = openSync(path, "wx", 0o600);
  try {
    readPieces(from, 0, Number.POSITIVE_INFINITY, (piece) => writeAll(to, piece));
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
}
