import { Database } from "bun:sqlite";

/** Maximum time that a start waits for another one's cleanup, which takes no longer than deleting some files. */
const waitMilliseconds = 30_000;

/**
 * The lock of a runtime directory: all programs that use the directory share it, and one that cleans up takes it alone.
 * It is SQLite's lock on an empty file, so the kernel releases it when the process exits for any reason.
 */
export class UseLock {
  readonly #database: Database;

  /** @throws an SQLite error when the file cannot be opened */
  constructor(path: string) {
    this.#database = new Database(path, { create: true });
    this.#database.run(`PRAGMA busy_timeout = ${waitMilliseconds}`);
  }

  /** Runs `sweep` if nobody uses the directory, and then releases the lock; else does nothing. */
  alone(sweep: () => void): void {
    try {
      this.#database.run("PRAGMA busy_timeout = 0");
      this.#database.run("BEGIN EXCLUSIVE");
    } catch {
      return;
    } finally {
      this.#database.run(`PRAGMA busy_timeout = ${waitMilliseconds}`);
    }
    try {
      sweep();
    } finally {
      this.#database.run("ROLLBACK");
    }
  }

  /** Takes the shared lock until this process exits. */
  share(): void {
    this.#database.run("BEGIN");
    this.#database.query("SELECT count(*) FROM sqlite_schema").get();
  }
}
