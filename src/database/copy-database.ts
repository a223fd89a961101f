import { Database } from "bun:sqlite";
import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { machineTrouble } from "../disk/index.ts";
import { syncDirectoryNow, syncFile } from "../files/index.ts";
import { ExpectedError, messageOf, size } from "../text/index.ts";
import { databaseState } from "./migrate.ts";
import { oneOf, openStates } from "./stored-values.ts";

/** A database could not be copied, or could not replace another one; the existing data is unchanged. */
export class BackupError extends ExpectedError {
  override readonly name = "BackupError";
}

/**
 * Writes a consistent copy of a database to one file, while other connections may read and write the database. The copy
 * has no free pages and therefore no deleted data. Only its owner can access it. It appears under its name complete and
 * synced, or not at all.
 * @param finish changes the copy before the copy gets its name
 * @throws {BackupError} when the disk is full or not writable, the target exists, or the source is not a database
 */
export function copyDatabase(from: string, to: string, finish: (copy: Database) => void = () => {}): void {
  if (statSync(to, { throwIfNoEntry: false }) !== undefined) throw new BackupError(`${to} exists already`);
  const partial = `${to}.partial`;
  try {
    rmSync(partial, { force: true });
    // VACUUM INTO accepts an existing empty file and keeps its mode.
    closeSync(openSync(partial, "wx", 0o600));
    vacuumInto(from, partial);
    {
      using copy = new Database(partial, { readwrite: true });
      finish(copy);
    }
    syncFile(partial);
    renameSync(partial, to);
    syncDirectoryNow(dirname(to));
  } catch (error) {
    for (const path of [partial, `${partial}-journal`]) rmSync(path, { force: true });
    if (error instanceof BackupError) throw error;
    throw new BackupError(`can't copy the database to ${to}: ${reasonOf(error, from, to)}`, { cause: error });
  }
}

function vacuumInto(from: string, to: string): void {
  using source = new Database(from, { readonly: true });
  source.run("PRAGMA busy_timeout = 10000");
  source.run("VACUUM INTO ?", [to]);
}

function reasonOf(error: unknown, from: string, to: string): string {
  if (machineTrouble(error)?.kind !== "disk_full") return messageOf(error);
  const takes = statSync(from, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(dirname(to));
  return `the disk is full; it takes up to ${size(takes)} and ${size(bavail * bsize)} are free`;
}

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
    using database = new Database(path, { readonly: true });
    const count = (from: string) =>
      database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${from}`).get()?.rows ?? 0;
    return {
      version: databaseState(database).version,
      bytes: statSync(path).size,
      accounts: count("accounts"),
      recordings: count("recordings"),
      open: count(`recordings WHERE status ${oneOf(openStates)}`),
    };
  } catch (error) {
    throw new BackupError(`${path} is damaged, or no database of transcribe (${messageOf(error)})`, { cause: error });
  }
}
