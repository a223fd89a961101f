import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, size } from "../text/index.ts";
import { isDiskFull } from "./disk-full.ts";
import { syncDirectoryNow } from "./sync-directory.ts";

/** A database could not be copied, or not be put in place of another; what there was is as it was. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/**
 * Writes a consistent copy of a database as one file, while others may read and write it. The copy holds no free pages, so
 * nothing that was deleted; it is its owner's alone, and appears under its name whole and synced, or not at all.
 * @param finish what is to be done to the copy before it gets its name
 * @throws {BackupError} for a disk that is full or not writable, a target that exists, a source that is no database
 */
export function copyDatabase(from: string, to: string, finish: (copy: Database) => void = () => {}): void {
  if (statSync(to, { throwIfNoEntry: false }) !== undefined) throw new BackupError(`there is a file ${to} already`);
  const partial = `${to}.partial`;
  try {
    rmSync(partial, { force: true });
    // SQLite fills a file that is there and empty, and leaves its mode as it is.
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
