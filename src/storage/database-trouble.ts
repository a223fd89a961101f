const byTheMachine = /^(SQLITE_(CANTOPEN|READONLY|FULL|IOERR|PERM|BUSY)|EACCES|EROFS|ENOSPC|EDQUOT)/;

/**
 * Why the database can't be read or written, where that is no fault of the program: a full or read-only disk, rights, or
 * another program that holds it. Null for any other error.
 */
export function databaseTrouble(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return byTheMachine.test(error.code) ? error.message : null;
}
