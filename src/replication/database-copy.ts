import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  fsync as fsyncWithCallback,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readAt, syncDirectoryNow, writeAll } from "../files/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { blockCount, digestOf } from "./database-sender.ts";
import { applyFrames, type OpenLog, openLog, writeAllAt } from "./log-copy.ts";
import { readLogEnd, writeLogEnd } from "./log-end.ts";
import {
  checkFrames,
  frameBytes,
  LOG_HEADER_BYTES,
  type LogPosition,
  logOffset,
  pageOf,
  parseLogHeader,
  sizeAfter,
} from "./log-format.ts";
import { BLOCK_BYTES, ProtocolError } from "./messages.ts";

const fsync = promisify(fsyncWithCallback);

/** Maximum size of a database that a server may announce. */
const MAX_DATABASE_BYTES = 2 ** 44;

/**
 * A standby's copy of the database: the file as it was at a checkpoint, and a copy of the log after it. At every moment,
 * and after every crash, both are a database that SQLite can open, with everything up to the last sync.
 */
export class DatabaseCopy implements Disposable {
  readonly #path: string;
  readonly #logPath: string;
  /** Directory in which a new copy is assembled. */
  readonly #draft: string;
  /** File with the end of a log that was emptied. */
  readonly #endPath: string;
  #log: OpenLog | null = null;
  /** The database file of a new copy that is being received; its log is then in the same directory. */
  #snapshot: { readonly file: number; readonly bytes: number } | null = null;
  #isDirty = false;
  /** End of the log that was emptied; null if there is a log, or nothing is known. */
  #end: LogPosition | null = null;

  constructor({ databasePath, incoming, state }: Pick<DataPaths, "databasePath" | "incoming" | "state">) {
    this.#path = databasePath;
    this.#logPath = `${databasePath}-wal`;
    this.#draft = join(incoming, "standby");
    this.#endPath = join(state, "standby-log-end.json");
    if (!existsSync(this.#path)) return;
    if (existsSync(this.#logPath)) this.#log = openLog(this.#logPath);
    if (this.#log === null) this.#end = readLogEnd(this.#endPath, this.#path, "always");
  }

  /** Whether a whole copy of the database is there. */
  get isComplete(): boolean {
    return existsSync(this.#path);
  }

  /** Returns the end of the copy of the log; null if there is none, so that the copy cannot be continued. */
  get position(): LogPosition | null {
    return this.#snapshot === null ? (this.#log?.position ?? this.#end) : null;
  }

  /** Writes whatever was received to the disk. */
  sync(): void {
    if (!this.#isDirty || this.#log === null) return;
    const { file } = this.#log;
    fdatasyncSync(file);
    // Somebody who opened the copy with SQLite has removed the log, and it would be lost.
    if (fstatSync(file).nlink === 0) throw new Error("another program has removed the log of the database's copy");
    this.#isDirty = false;
  }

  /**
   * Begins to receive a new copy, which replaces this one when it is complete. It begins with what is there, so that only
   * what differs is sent.
   * @param bytes size of the server's database
   */
  async beginSnapshot(bytes: number): Promise<void> {
    if (bytes > MAX_DATABASE_BYTES || bytes % 512 !== 0) throw new ProtocolError(`no database has ${bytes} bytes`);
    this.#applyLog();
    this.#closeLog();
    for (const path of [this.#logPath, this.#endPath]) rmSync(path, { force: true });
    this.#end = null;
    mkdirSync(this.#draft, { recursive: true, mode: 0o700 });
    const path = join(this.#draft, "transcribe.db");
    rmSync(`${path}-wal`, { force: true });
    // A transfer that was interrupted has left a more recent one.
    if (!existsSync(path) && existsSync(this.#path)) await copyFile(this.#path, path, constants.COPYFILE_FICLONE);
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    ftruncateSync(file, Math.min(bytes, fstatSync(file).size));
    this.#snapshot = { file, bytes };
  }

  /** Yields the digests of the blocks that are there. */
  *digests(): Generator<Buffer> {
    const { file } = this.#receiving();
    const { size } = fstatSync(file);
    for (let at = 0; at < size; at += BLOCK_BYTES) yield digestOf(readAt(file, at, BLOCK_BYTES));
  }

  writeBlock(index: number, content: Buffer): void {
    const { file, bytes } = this.#receiving();
    const at = index * BLOCK_BYTES;
    if (index >= blockCount(bytes) || content.length !== Math.min(BLOCK_BYTES, bytes - at)) {
      throw new ProtocolError(`there is no block ${index} of ${content.length} bytes`);
    }
    writeAllAt(file, content, at);
  }

  /** Replaces the former copy with the new one, once it and its log are durable. */
  async endSnapshot(): Promise<void> {
    const { file, bytes } = this.#receiving();
    if (fstatSync(file).size !== bytes) throw new ProtocolError("blocks of the database are missing");
    const path = join(this.#draft, "transcribe.db");
    const log = this.#log;
    // The file alone must be a database: the log gets its name after it.
    if (log !== null) applyFrames(file, log);
    if (readAt(file, 0, 16).toString("latin1") !== "SQLite format 3\0") throw new ProtocolError("this is no database");
    await fsync(file);
    closeSync(file);
    this.#snapshot = null;
    if (log !== null) fsyncSync(log.file);
    // The former log is gone since the beginning, so it never meets the new database.
    renameSync(path, this.#path);
    syncDirectoryNow(dirname(this.#path));
    if (log !== null) renameSync(`${path}-wal`, this.#logPath);
    syncDirectoryNow(dirname(this.#path));
    this.#isDirty = false;
  }

  /** Begins a new generation of the log. Everything before it must be there. */
  beginLog(bytes: Buffer): void {
    const header = parseLogHeader(bytes);
    if (header === null || bytes.length !== LOG_HEADER_BYTES) throw new ProtocolError("the header of a log is damaged");
    if (this.#snapshot !== null) {
      if (this.#log !== null) applyFrames(this.#snapshot.file, this.#log);
    } else if (this.isComplete) this.#applyLog();
    else throw new ProtocolError("there is no database for the log");
    this.#closeLog();
    const path = this.#snapshot === null ? this.#logPath : join(this.#draft, "transcribe.db-wal");
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
    writeAll(file, bytes);
    this.#end = null;
    if (this.#snapshot === null) {
      syncDirectoryNow(dirname(path));
      rmSync(this.#endPath, { force: true });
    }
    this.#log = { file, header, pages: 0, position: { salt: header.salt, frames: 0, sum: header.sum } };
    this.#isDirty = true;
  }

  /** Copies the log to the database file and empties it, so that data which was deleted is gone here, too. */
  emptyLog(): void {
    const log = this.#log;
    if (log === null || this.#snapshot !== null) return;
    this.#applyLog();
    // Written before the log is gone: from then on it is the only trace of the position.
    writeLogEnd(this.#endPath, this.#path, log.position);
    ftruncateSync(log.file, 0);
    fsyncSync(log.file);
    this.#end = log.position;
    this.#closeLog();
  }

  /** Appends frames. */
  append(bytes: Buffer): void {
    const log = this.#log;
    if (log === null) throw new ProtocolError("frames came before the header of their log");
    const { header, position } = log;
    const size = frameBytes(header.pageBytes);
    const { frames, sum } = checkFrames(header, bytes, position.sum);
    if (frames === 0 || frames * size !== bytes.length) throw new ProtocolError("frames of the log are damaged");
    for (let at = 0; at < bytes.length; at += size) {
      const frame = bytes.subarray(at, at + size);
      if (pageOf(frame) * header.pageBytes > MAX_DATABASE_BYTES) throw new ProtocolError("a page is too far away");
      log.pages = sizeAfter(frame) || log.pages;
    }
    writeAllAt(log.file, bytes, logOffset(header.pageBytes, position.frames));
    log.position = { salt: position.salt, frames: position.frames + frames, sum };
    this.#isDirty = true;
  }

  /** Copies the log to the database file. Repeated after a crash, it has the same result. */
  #applyLog(): void {
    const log = this.#log;
    if (log === null || !this.isComplete) return;
    fdatasyncSync(log.file);
    const file = openSync(this.#path, "r+");
    try {
      applyFrames(file, log);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  #receiving() {
    if (this.#snapshot === null) throw new ProtocolError("no copy of the database was announced");
    return this.#snapshot;
  }

  #closeLog(): void {
    if (this.#log !== null) closeSync(this.#log.file);
    this.#log = null;
    this.#isDirty = false;
  }

  [Symbol.dispose](): void {
    this.#closeLog();
    if (this.#snapshot !== null) closeSync(this.#snapshot.file);
    this.#snapshot = null;
  }
}
