import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, size } from "../text/index.ts";
import { isDiskFull } from "./disk-full.ts";
import { syncDirectoryNow } from "./sync-directory.ts";

/** A database could not be copied, or could not replace another one; the existing data is unchanged. */
export class BackupError extends Error {
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
  if (statSync(to, { throwIfNoEntry: false }) !== undefined) throw new BackupError(`there is a file ${to} already`);
  const partial = `${to}.partial`;
  try {
    rmSync(partial, { force: true });
    // VACUUM INTO accepts an existing empty file and keeps its mode.
    closeSync(openSync(partial, "wx", 0o600));
    vacuumInto(from, partial);
    const copy = new Database(partial, { readwrite: true });
    try {
      finish(copy);
    } finally {
      copy.close();
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
  const source = new Database(from, { readonly: true });
  try {
    source.run("PRAGMA busy_timeout = 10000");
    source.run("VACUUM INTO ?", [to]);
  } finally {
    source.close();
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown, from: string, to: string): string {
  if (isDiskFull(error)) {
    return `the disk is full; it takes up to ${size(sizeOf(from))} and ${size(freeBytes(dirname(to)))} are free`;
  }
  return messageOf(error);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
