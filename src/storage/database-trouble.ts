const byTheMachine = /^(SQLITE_(CANTOPEN|READONLY|FULL|IOERR|PERM|BUSY)|EACCES|EROFS|ENOSPC|EDQUOT)/;

/**
 * Returns why the database cannot be read or written when the program is not the cause. Causes are a full or read-only
 * disk, missing rights, or another program that holds the database. Returns null for any other error.
 */
export function databaseTrouble(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return byTheMachine.test(error.code) ? error.message : null;
}
