import { Database } from "bun:sqlite";

/** A start waits so long for another that sweeps; that takes no longer than deleting some files. */
const waitMilliseconds = 30_000;

/**
 * The lock that every program holds together while it uses a runtime directory, and that one alone takes to sweep it. It is
 * SQLite's lock on an empty file, so the kernel gives it up with the process, however that ends.
 */
export class UseLock {
  readonly #database: Database;

  /** @throws what SQLite says where the file can't be opened */
  constructor(path: string) {
    this.#database = new Database(path, { create: true });
    this.#database.run(`PRAGMA busy_timeout = ${waitMilliseconds}`);
  }

  /** Runs `sweep` if nobody uses the directory, and gives the lock back; else does nothing. */
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

  /** Takes it with others, until this process ends. */
  share(): void {
    this.#database.run("BEGIN");
    this.#database.query("SELECT count(*) FROM sqlite_schema").get();
  }
}
