/** Temporary problems of the machine, by kind; an operator or time resolves them. */
export const machineTroubles = {
  no_room: "there is no room for its files now",
  disk_full: "the disk is full",
  read_only: "the disk can't be written: it is read-only",
  io_error: "the disk reports errors",
  too_many_files: "too many files are open",
  database_busy: "another program holds the database",
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
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const kind = kinds.find(([pattern]) => pattern.test(code))?.[1];
    if (kind === undefined) continue;
    return { kind, detail: cause.message, isConfirmed: cause instanceof MachineError || code.startsWith("SQLITE_") };
  }
  return null;
}
