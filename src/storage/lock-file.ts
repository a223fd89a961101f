import { Database } from "bun:sqlite";
import { lstatSync } from "node:fs";

/**
 * Takes a lock for this process. It is SQLite's own file lock, so the kernel gives it up with the process, however that ends.
 * @returns a function that gives it back; null where another has it
 */
export function lockFile(path: string): (() => void) | null {
  // SQLite would make the file that a link leads to.
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
  return () => lock.close();
}
