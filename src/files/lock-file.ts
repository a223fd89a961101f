import { Database } from "bun:sqlite";
import { lstatSync } from "node:fs";

/** Held locks. Without a reference, the garbage collector would close the database and so release its lock. */
const heldLocks = new Set<Database>();

/**
 * Takes a lock for this process: SQLite's own file lock, which the kernel releases however the process exits.
 * @returns a function that releases the lock; null when another process holds it
 */
export function lockFile(path: string): (() => void) | null {
  // SQLite would follow a link and create the file that it leads to.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw new Error(`${path} is a link`);
  const lock = new Database(path, { create: true });
  try {
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (error instanceof Error && error.message.includes("locked")) return null;
    throw error;
  }
  heldLocks.add(lock);
  return () => {
    heldLocks.delete(lock);
    lock.close();
  };
}
