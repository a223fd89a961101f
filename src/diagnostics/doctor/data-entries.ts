import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { DataPaths } from "../../storage/index.ts";

/** A file or directory of the data directory. */
export interface DataEntry {
  /** Path to show to the user. */
  readonly path: string;
  readonly stats: Stats;
  /** Removes the permissions of the group and of other users. */
  close(): void;
}

/**
 * Calls `use` with the data directory, its entries, and the entries of its own subdirectories. The number of entries
 * grows with the number of recordings. Directories are held open and never reached through a link. Files with several
 * hard links are skipped, since they may belong to somebody else.
 */
export function withDataEntries<T>(paths: DataPaths, use: (entries: readonly DataEntry[]) => T): T {
  const directories: number[] = [];
  try {
    const root = openSync(paths.root, constants.O_RDONLY | constants.O_DIRECTORY);
    directories.push(root);
    const entries: DataEntry[] = [
      { path: paths.root, stats: fstatSync(root), close: () => closeToOthers(root) },
      ...entriesIn(root, paths.root),
    ];
    for (const path of [paths.state, paths.incoming, paths.uploads, paths.work, paths.playback, paths.live]) {
      const directory = openOrNull(through(root, path.slice(paths.root.length + 1)), constants.O_DIRECTORY);
      if (directory === null) continue;
      directories.push(directory);
      entries.push(...entriesIn(directory, path));
    }
    return use(entries);
  } finally {
    for (const each of directories) closeSync(each);
  }
}

/**
 * Calls `use` with the files in a directory, not in its subdirectories.
 * @returns null if the directory cannot be opened or is a symbolic link
 */
export function withFilesIn<T>(
  path: string,
  use: (files: readonly { readonly path: string; readonly sizeBytes: number }[]) => T,
): T | null {
  return withFile(path, constants.O_DIRECTORY, (directory) => {
    const paths = readdirSync(through(directory)).map((name) => through(directory, name));
    const files = paths.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() ? [{ path, sizeBytes: stats.size }] : [];
    });
    return use(files);
  });
}

function entriesIn(directory: number, path: string): DataEntry[] {
  return readdirSync(through(directory)).flatMap((name): DataEntry[] => {
    const heldPath = through(directory, name);
    const stats = lstatSync(heldPath, { throwIfNoEntry: false });
    if (stats === undefined || (stats.isFile() && stats.nlink > 1)) return [];
    return [{ path: join(path, name), stats, close: () => withFile(heldPath, constants.O_NONBLOCK, closeToOthers) }];
  });
}

function closeToOthers(descriptor: number): void {
  fchmodSync(descriptor, fstatSync(descriptor).mode & 0o700);
}

/** Calls `use` with an open file or directory. @returns null if the path is a symbolic link or cannot be opened */
function withFile<T>(path: string, flags: number, use: (descriptor: number) => T): T | null {
  const descriptor = openOrNull(path, flags);
  if (descriptor === null) return null;
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a path read-only. Returns null if it is a symbolic link, is missing, or cannot be opened. */
function openOrNull(path: string, flags: number): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | flags);
  } catch {
    return null;
  }
}

/** Returns a path relative to an open directory, which stays valid when the directory is moved. */
function through(directory: number, name = ""): string {
  return `/proc/self/fd/${directory}/${name}`;
}
