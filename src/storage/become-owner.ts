import { statSync } from "node:fs";
import type { DataPaths } from "./data-paths.ts";

/**
 * Makes root the owner of a data directory for the rest of this process: what the command makes is the server's then, and a
 * link that the server's user puts there while it works leads nowhere that this user couldn't go. Does nothing for others,
 * and for a root that has no such right, as in a closed container.
 */
export function becomeOwner({ root }: DataPaths): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(root);
  if (uid === 0) return;
  try {
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) throw error;
  }
}
