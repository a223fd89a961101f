import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { runAtOnce } from "../tools/shared/run-command.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** A small file system that is mounted over an existing directory until disposal. */
export class SmallDisk implements Disposable {
  readonly #path: string;

  /** @param options mount options of tmpfs: `size=40m,nr_inodes=500` */
  constructor(path: string, options: string) {
    this.#path = path;
    runAtOnce("mount", "-t", "tmpfs", "-o", options, "tmpfs", path);
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#path);
    return bavail * bsize;
  }

  /** Writes a file until at most `leaveBytes` are free. It ignores what other processes write in the meantime. */
  fill(leaveBytes = 0): void {
    const file = openSync(this.#ballast, "a");
    try {
      const block = Buffer.alloc(1 << 16);
      while (this.freeBytes() > leaveBytes)
        writeSync(file, block, 0, Math.min(block.length, this.freeBytes() - leaveBytes));
    } catch (error) {
      // Another process has used the last free bytes.
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Removes the file that `fill` has written. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  remount(mode: "ro" | "rw"): void {
    runAtOnce("mount", "-o", `remount,${mode}`, this.#path);
  }

  [Symbol.dispose](): void {
    Bun.spawnSync(["umount", "-l", this.#path]);
  }

  get #ballast(): string {
    return join(this.#path, "ballast");
  }
}

/** Calls `use` with the path of a small file system. @param size as tmpfs takes it: `400k` */
export function withSmallDisk(size: string, use: (path: string) => void): void {
  using directory = temporaryDirectory();
  using _disk = new SmallDisk(directory.path, `size=${size}`);
  use(directory.path);
}

export const canMount: boolean = tryMount();
if (!canMount) console.warn("SKIPPED: tests with a full disk; mounting needs privileges");

function tryMount(): boolean {
  try {
    withSmallDisk("64k", () => {});
    return true;
  } catch {
    return false;
  }
}
