import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { messageOf } from "../text/index.ts";
import { BackupError } from "./copy-database.ts";
import { databaseState } from "./migrate.ts";

/** Figures about the content of a database file. */
export interface DatabaseFacts {
  /** Program version that last served the database. */
  readonly version: string;
  readonly bytes: number;
  readonly accounts: number;
  readonly recordings: number;
  /** Number of recordings that are queued or processing. */
  readonly open: number;
}

/**
 * Reads only facts that databases of every version contain.
 * @throws {BackupError} when the file cannot be read or is not a database of ours
 */
export function databaseFacts(path: string): DatabaseFacts {
  try {
    return factsOf(path);
  } catch (error) {
    const why = messageOf(error);
    throw new BackupError(`${path} is damaged, or no database of transcribe (${why})`, { cause: error });
  }
}

function factsOf(path: string): DatabaseFacts {
  using database = new Database(path, { readonly: true });
  const count = (from: string) =>
    database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${from}`).get()?.rows ?? 0;
  return {
    version: databaseState(database).version,
    bytes: statSync(path).size,
    accounts: count("accounts"),
    recordings: count("recordings"),
    open: count("recordings WHERE status IN ('queued', 'processing')"),
  };
}
