import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
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

/** A small file system over a directory that is there, until it is disposed of. */
export class SmallDisk implements Disposable {
  readonly #path: string;

  /** @param options as tmpfs takes them: `size=40m,nr_inodes=500` */
  constructor(path: string, options: string) {
    this.#path = path;
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path);
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#path);
    return bavail * bsize;
  }

  /** Writes a file until so many bytes are free; what others write meanwhile, it does not see. */
  fill(leaveBytes = 0): void {
    const file = openSync(this.#ballast, "a");
    try {
      const piece = Buffer.alloc(1 << 16);
      while (this.freeBytes() > leaveBytes)
        writeSync(file, piece, 0, Math.min(piece.length, this.freeBytes() - leaveBytes));
    } catch (error) {
      // Somebody else took the last of it.
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Removes what filled it. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  remount(mode: "ro" | "rw"): void {
    run("mount", "-o", `remount,${mode}`, this.#path);
  }

  [Symbol.dispose](): void {
    Bun.spawnSync(["umount", "-l", this.#path]);
  }

  get #ballast(): string {
    return join(this.#path, "ballast");
  }
}

function run(...command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
