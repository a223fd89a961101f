import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { readAt, writeAll } from "../files/index.ts";
import { codeOf } from "../text/index.ts";
import { looksLikeRecording, RECORDING_HEAD_BYTES } from "./recording-heads.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Maximum number of entries of a directory that are returned. */
const MAX_NAMES = 100_000;

/** Owner and permissions of a file. */
export interface Owner {
  readonly userId: number;
  readonly groupId: number;
  readonly mode: number;
}

/** A file as the file system describes it, without its name. */
export interface FileStatus {
  /** `linked`: a file with several names; `other`: a link, a device, a socket or a pipe. */
  readonly kind: "file" | "linked" | "directory" | "link" | "other";
  readonly sizeBytes: number;
  /** Time of its last change, in nanoseconds. */
  readonly modified: string;
  readonly inode: string;
  readonly owner: Owner;
}

/** The entries of a directory that are not ignored. */
export interface Entries {
  readonly entries: readonly { readonly name: string; readonly isDirectory: boolean }[];
  /** Number of those beyond the maximum. */
  readonly excess: number;
}

/**
 * The calls of the file system that work on folders consists of. Each one blocks its thread until the file system
 * answers. No call follows a link at the end of a path, except that one returns where it leads.
 */
export const fileCalls = {
  openDirectory: (path: string) => openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
  /** Opens a file for reading, without waiting for the writer of a pipe. */
  openFile: (path: string) => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
  /** Creates a file that only this user may access. */
  createFile: (path: string) => openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600),
  close: (descriptor: number) => closeSync(descriptor),
  read: (descriptor: number, position: number, length: number): Uint8Array => readAt(descriptor, position, length),
  write: writeAll,
  sync: (descriptor: number) => fsyncSync(descriptor),
  chown: (descriptor: number, userId: number, groupId: number) => fchownSync(descriptor, userId, groupId),
  chmod: (descriptor: number, mode: number) => fchmodSync(descriptor, mode),
  describeOpen: (descriptor: number) => statusOf(fstatSync(descriptor, { bigint: true })),
  describe: (path: string) => statusOf(lstatSync(path, { bigint: true })),
  /** Describes the entries with these names; null for those that are gone. */
  describeAll: (directory: string, names: readonly string[]): (FileStatus | null)[] =>
    names.map((name) => {
      const stats = lstatSync(`${directory}/${name}`, { bigint: true, throwIfNoEntry: false });
      return stats === undefined ? null : statusOf(stats);
    }),
  /** Lists a directory without the entries that are ignored, such as results, which may be most of them. */
  entries(path: string, ignored: RegExp): Entries {
    const all = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !ignored.test(name));
    return {
      entries: all.slice(0, MAX_NAMES).map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() })),
      excess: Math.max(0, all.length - MAX_NAMES),
    };
  },
  makeDirectory(path: string): void {
    mkdirSync(path, { mode: 0o700 });
  },
  link: (from: string, to: string) => linkSync(from, to),
  rename: (from: string, to: string) => renameSync(from, to),
  remove: (path: string) => rmSync(path, { force: true }),
  readLink: (path: string) => readlinkSync(path),
  /** Returns the path to which a path leads, also through links in its middle. */
  realPath: (path: string) => realpathSync(path),
  identities: identitiesOf,
  /** Returns which entries with these names are files that seem to be recordings by their beginnings. */
  areRecordings: (directory: string, names: readonly string[]): boolean[] =>
    names.map((name) => isRecording(`${directory}/${name}`)),
} as const;

export type FileCalls = typeof fileCalls;
export type FileCallName = keyof FileCalls;

/** Runs calls of the file system, in this process or in another one. Its descriptors mean nothing to any other. */
export interface FileSystem {
  call<Name extends FileCallName>(
    name: Name,
    ...args: Parameters<FileCalls[Name]>
  ): Promise<ReturnType<FileCalls[Name]>>;
}

/** Runs a call by its name. @throws errors of the file system */
export function runFileCall<Name extends FileCallName>(
  name: Name,
  args: Parameters<FileCalls[Name]>,
): ReturnType<FileCalls[Name]> {
  const run = fileCalls[name] as (...args: Parameters<FileCalls[Name]>) => ReturnType<FileCalls[Name]>;
  return run(...args);
}

/**
 * Returns what identifies a directory and each one above it, whatever the path to it is: the numbers of its device and its
 * inode. The directory itself is the first.
 */
export function identitiesOf(path: string): string[] {
  const { dev, ino } = statSync(path, { bigint: true });
  const above = dirname(path);
  return [`${dev}:${ino}`, ...(above === path ? [] : identitiesOf(above))];
}

function isRecording(path: string): boolean {
  let descriptor: number | null = null;
  try {
    // Opening a device can have an effect.
    if (fileCalls.describe(path).kind !== "file") return false;
    descriptor = fileCalls.openFile(path);
    return looksLikeRecording(readAt(descriptor, 0, RECORDING_HEAD_BYTES));
  } catch (error) {
    if (["ENOENT", "EACCES", "EPERM", "ELOOP", "EBUSY", "EAGAIN", "ETXTBSY"].includes(codeOf(error))) return false;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function statusOf(stats: BigIntStats): FileStatus {
  const isFile = stats.isFile();
  const other = stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";
  return {
    kind: isFile ? (stats.nlink > 1n ? "linked" : "file") : other,
    sizeBytes: Number(stats.size),
    modified: String(stats.mtimeNs),
    inode: String(stats.ino),
    owner: { userId: Number(stats.uid), groupId: Number(stats.gid), mode: Number(stats.mode) & 0o7777 },
  };
}
