/** Returns whether an error means that the disk or the user's disk quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_FULL";
}
