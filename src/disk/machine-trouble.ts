import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../text/index.ts";

/** Temporary problems of the machine, by kind; an operator or time resolves them. */
export const machineTroubles = {
  no_room: "there is not enough disk space for its files now",
  disk_full: "the disk is full",
  read_only: "the disk is read-only",
  io_error: "the disk reports errors",
  too_many_files: "too many files are open",
  database_busy: "another program has locked the database",
  audio_store: "the object store of the audio can't be used",
  no_lease: "it can't renew its lease, so another server may have taken over",
} as const;
export type MachineTroubleKind = keyof typeof machineTroubles;

export interface MachineTrouble {
  readonly kind: MachineTroubleKind;
  /** The message of the original error, for the log. */
  readonly detail: string;
  /**
   * True for a MachineError, whose thrower checked the cause, and for an SQLite error. Otherwise another component
   * reported the problem, or it may concern only one file.
   */
  readonly isConfirmed: boolean;
}

const kinds: readonly [RegExp, MachineTroubleKind][] = [
  [/^NO_ROOM$/, "no_room"],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)$/, "disk_full"],
  [/^(EROFS|SQLITE_READONLY.*)$/, "read_only"],
  [/^(EMFILE|ENFILE|SQLITE_CANTOPEN.*)$/, "too_many_files"],
  [/^(EIO|SQLITE_IOERR.*)$/, "io_error"],
  [/^SQLITE_BUSY/, "database_busy"],
  [/^AUDIO_STORE$/, "audio_store"],
  [/^NO_LEASE$/, "no_lease"],
];

/** A confirmed problem of the machine, as the cause of a more specific error; `code` is the system's, e.g. `EROFS`. */
export class MachineError extends Error {
  override readonly name = "MachineError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Returns the machine's problem behind an error or one of its causes, e.g. a full or read-only disk, or too many open
 * files. Returns null for any other error, which concerns the operation itself.
 */
export function machineTrouble(error: unknown): MachineTrouble | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    const code = codeOf(cause);
    const kind = kinds.find(([pattern]) => pattern.test(code))?.[1];
    if (kind === undefined) continue;
    return { kind, detail: cause.message, isConfirmed: cause instanceof MachineError || code.startsWith("SQLITE_") };
  }
  return null;
}

const machineCodes = /^(SQLITE_(CANTOPEN|READONLY|FULL|IOERR|PERM|BUSY)|EACCES|EROFS|ENOSPC|EDQUOT)/;

/**
 * Returns why the database cannot be read or written when the program is not the cause. Causes are a full or read-only
 * disk, missing rights, or another program that holds the database. Returns null for any other error.
 */
export function databaseTrouble(error: unknown): string | null {
  return machineCodes.test(codeOf(error)) ? messageOf(error) : null;
}

const PROBE_BYTES = 1024 * 1024;
/** Number of files that one worker on a recording has open at once. */
const PROBE_FILES = 16;

/**
 * Tests whether files can be written to a directory now, by opening 16 files and syncing one mebibyte. The test
 * confirms or refutes a report that the disk is full or that too many files are open.
 * @returns the system's error when the write fails, null when it succeeds
 */
export async function probeWriting(directory: string): Promise<Error | null> {
  const path = join(directory, `.probe-${crypto.randomUUID()}`);
  const files: FileHandle[] = [];
  try {
    for (let count = 0; count < PROBE_FILES; count++) files.push(await open(path, "w"));
    await files[0]?.writeFile(new Uint8Array(PROBE_BYTES));
    await files[0]?.sync();
    return null;
  } catch (error) {
    if (machineTrouble(error) === null) throw error;
    return error as Error;
  } finally {
    for (const file of files) await file.close().catch(() => {});
    await rm(path, { force: true }).catch(() => {});
  }
}
