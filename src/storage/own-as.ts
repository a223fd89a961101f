import { lchownSync, statSync } from "node:fs";

/**
 * Gives what root made in a directory to the directory's owner: the server that has to open it runs as a user of its own,
 * who might put a link to another's file in its place.
 */
export function ownAs(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  lchownSync(path, uid, gid);
}
