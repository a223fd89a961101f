/** Whether an error says that the disk, or what a user may have of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_FULL";
}
