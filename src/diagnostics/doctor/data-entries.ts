import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { DataPaths } from "../../storage/index.ts";

/** A file or directory of the data directory. */
export interface DataEntry {
  /** For people. */
  readonly path: string;
  readonly stats: Stats;
  /** Takes the rights of the group and of others. */
  close(): void;
}

/**
 * Lets `look` see the data directory, what lies in it and what lies in its own directories; the recordings' files are as
 * many as recordings. Directories are held open and never reached through a link, and a file of several names, which may be
 * another's, is left alone.
 */
export function withDataEntries<T>(paths: DataPaths, look: (entries: readonly DataEntry[]) => T): T {
  const held: number[] = [];
  try {
    const root = openSync(paths.root, constants.O_RDONLY | constants.O_DIRECTORY);
    held.push(root);
    const entries: DataEntry[] = [
      {
        path: paths.root,
        stats: fstatSync(root),
        close: () => fchmodSync(root, fstatSync(root).mode & 0o700),
      },
      ...entriesIn(root, paths.root),
    ];
    for (const path of [paths.state, paths.incoming, paths.uploads, paths.work, paths.listening]) {
      const directory = openOrNull(through(root, path.slice(paths.root.length + 1)), constants.O_DIRECTORY);
      if (directory === null) continue;
      held.push(directory);
      entries.push(...entriesIn(directory, path));
    }
    return look(entries);
  } finally {
    for (const each of held) closeSync(each);
  }
}

/** Removes the files in a directory that is no link itself; not what lies deeper. */
export function removeFilesIn(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const name of filesIn(directory)) unlinkSync(through(directory, name));
  } finally {
    closeSync(directory);
  }
}

/** Sizes of the files in a directory that is no link itself, in bytes. */
export function fileSizesIn(path: string): number[] {
  const directory = openOrNull(path, constants.O_DIRECTORY);
  if (directory === null) return [];
  try {
    return filesIn(directory).map((name) => lstatSync(through(directory, name), { throwIfNoEntry: false })?.size ?? 0);
  } finally {
    closeSync(directory);
  }
}

function filesIn(directory: number): string[] {
  return readdirSync(through(directory)).filter((name) =>
    lstatSync(through(directory, name), { throwIfNoEntry: false })?.isFile(),
  );
}

function entriesIn(directory: number, path: string): DataEntry[] {
  return readdirSync(through(directory)).flatMap((name): DataEntry[] => {
    const place = through(directory, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined || (stats.isFile() && stats.nlink > 1)) return [];
    return [{ path: join(path, name), stats, close: () => closeToOthers(place) }];
  });
}

function closeToOthers(place: string): void {
  const file = openOrNull(place, constants.O_NONBLOCK);
  if (file === null) return;
  try {
    fchmodSync(file, fstatSync(file).mode & 0o700);
  } finally {
    closeSync(file);
  }
}

/** Opens what is no link; null for what is one, is gone, or can't be opened. */
function openOrNull(path: string, flags: number): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | flags);
  } catch {
    return null;
  }
}

/** A path that begins at an open directory, wherever that was moved to. */
function through(directory: number, name = ""): string {
  return `/proc/self/fd/${directory}/${name}`;
}
