import { temporaryDirectory } from "./temporary-directory.ts";

/** Whether a small file system can be mounted here, to be filled. */
export const canMount: boolean = tryMount();
if (!canMount) console.warn("tests with a full disk are skipped: mounting needs privileges");

/** Runs with a disk of its own, which is unmounted after. @param size as tmpfs takes it: `400k` */
export function withSmallDisk(size: string, run: (path: string) => void): void {
  using directory = temporaryDirectory();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory.path]);
  if (mounted.exitCode !== 0) throw new Error(`mount: ${mounted.stderr}`);
  try {
    run(directory.path);
  } finally {
    Bun.spawnSync(["umount", "-l", directory.path]);
  }
}

function tryMount(): boolean {
  try {
    withSmallDisk("64k", () => {});
    return true;
  } catch {
    return false;
  }
}
