import { Database } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { readAt } from "../files/index.ts";
import { INDEX_BYTES, isSamePosition, type LogPosition, type LogState, parseLogIndex } from "./log-format.ts";

/** Attempts to read the log's index while SQLite changes it, which takes less than a millisecond. */
const INDEX_ATTEMPTS = 100;

/** Files that are open in this process, by device and inode. */
const opened = new Map<string, number>();

/**
 * Opens a file of a database for reading, and never closes it: a process that closes a file loses all its locks on it,
 * also those of SQLite's connections (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
export function openedForever(path: string): number {
  const { dev, ino } = statSync(path);
  const name = `${dev}:${ino}`;
  const file = opened.get(name) ?? openSync(path, "r");
  opened.set(name, file);
  return file;
}

/**
 * Keeps SQLite from writing the log of a database from its start again before a copy has what is in it. It is an open
 * read transaction, so it ends with the process, whatever ends that.
 *
 * There are two cases. If frames are not yet in the database file, the transaction reads from the log, so nobody starts
 * it again. If all are, the transaction reads the database file alone: the next writer may start the log again, once, and
 * nobody changes the database file. The position at that time is the sealed position: whoever has everything up to it
 * can continue with the next generation of the log.
 */
export class LogHold implements Disposable {
  readonly #reader: Database;
  readonly #writer: Database;
  readonly #index: number;
  #isHeld = false;
  #sealed: LogPosition | null = null;
  /** End of an earlier log, which this one continues; null if it is not known. */
  #earlier: LogPosition | null = null;
  /** Whether the open transaction reads the database file alone. */
  #readsFileAlone = false;

  /** @throws an SQLite error when the database cannot be opened */
  constructor(databasePath: string) {
    const open = () => {
      const client = new Database(databasePath, { readwrite: true });
      client.run("PRAGMA busy_timeout = 0");
      return client;
    };
    this.#reader = open();
    this.#writer = open();
    // Opens the log and its index.
    this.#reader.query("SELECT count(*) FROM sqlite_schema").get();
    this.#index = openedForever(`${databasePath}-shm`);
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Returns the state of the log. @throws {Error} if its index cannot be read */
  state(): LogState {
    for (let attempts = 0; attempts < INDEX_ATTEMPTS; attempts++) {
      const state = parseLogIndex(readAt(this.#index, 0, INDEX_BYTES));
      if (state !== null) return state;
    }
    throw new Error("the index of the database's log cannot be read");
  }

  /** Returns the id of the database; null if it has none. */
  databaseId(): string | null {
    const hasId =
      this.#writer.query("SELECT 1 FROM pragma_table_info('serving') WHERE name = 'database'").get() !== null;
    if (!hasId) return null;
    return this.#writer.query<{ database: string }, []>("SELECT database FROM serving").get()?.database ?? null;
  }

  /** Returns whether the log continued with another generation after this position, and nothing was between them. */
  isSealedAt(position: LogPosition): boolean {
    return [this.#sealed, this.#earlier].some((sealed) => sealed !== null && isSamePosition(sealed, position));
  }

  /**
   * Returns the position up to which the database file has everything, and which nobody writes as long as the log is held
   * like this; null if there is none, or if an earlier process knew it.
   */
  get sealed(): LogPosition | null {
    return this.#readsFileAlone && this.#earlier === null ? this.#sealed : null;
  }

  /**
   * Begins to hold the log, if it is not held.
   * @param findEarlier returns the end of an earlier log, if the database file has everything up to there and nothing else
   * @throws an SQLite error when the database is locked
   */
  take(findEarlier: () => LogPosition | null = () => null): void {
    if (this.#isHeld) return;
    this.#begin();
    this.#seal();
    // Nobody starts the log again from here on, so it still has all that the file lacks.
    this.#earlier = findEarlier();
  }

  /** Ends it, and empties the log: from now on SQLite starts the log again whenever it likes. */
  release(): void {
    if (!this.#isHeld) return;
    this.#reader.run("COMMIT");
    this.#isHeld = false;
    this.#sealed = null;
    this.#earlier = null;
    this.#readsFileAlone = false;
    // Deleted data remains in the log until then. If somebody else uses it now, a chore of the server empties it later.
    this.#writer.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
  }

  /**
   * Copies the log to the database and empties it, so that it starts again. Nobody can write meanwhile, so nothing is
   * lost between what was copied and the next generation.
   * @param delivered the position up to which the standby has everything
   * @returns false if more was written, or if somebody reads the database; the log is held as before then
   */
  restart(delivered: LogPosition): boolean {
    if (!this.#isHeld || !isSamePosition(this.state(), delivered) || !this.#lock()) return false;
    let isSealed = false;
    try {
      if (!isSamePosition(this.state(), delivered)) return false;
      this.#reader.run("COMMIT");
      this.#isHeld = false;
      this.#reader.query("PRAGMA wal_checkpoint(PASSIVE)").get();
      this.#begin();
      isSealed = this.#seal();
    } finally {
      this.#writer.run("ROLLBACK");
    }
    // A writer that came first has started the log again. Then the held transaction keeps this call from doing anything.
    if (isSealed) this.#writer.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
    return isSealed;
  }

  #begin(): void {
    this.#reader.run("BEGIN");
    try {
      this.#reader.query("SELECT count(*) FROM sqlite_schema").get();
      this.#isHeld = true;
    } catch (error) {
      this.#reader.run("ROLLBACK");
      throw error;
    }
  }

  #seal(): boolean {
    const state = this.state();
    this.#readsFileAlone = state.backfilled === state.frames;
    if (!this.#readsFileAlone) return false;
    this.#sealed = state;
    this.#earlier = null;
    return true;
  }

  #lock(): boolean {
    try {
      this.#writer.run("BEGIN IMMEDIATE");
      return true;
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#reader.close();
    this.#writer.close();
  }
}
