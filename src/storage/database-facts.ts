import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { messageOf } from "../text/index.ts";
import { BackupError } from "./copy-database.ts";
import { databaseState } from "./migrate.ts";

/** What a database file holds, in figures. */
export interface DatabaseFacts {
  /** The version that last served it. */
  readonly version: string;
  readonly bytes: number;
  readonly accounts: number;
  readonly recordings: number;
  /** Those of them that have not ended. */
  readonly open: number;
}

/**
 * Reads what every version's database has.
 * @throws {BackupError} for a file that can't be read, or is no database of ours
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
