import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { lines } from "../../harness/server.ts";
import { canMount } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

/**
 * A file system in memory that is mounted over an existing directory until disposal, and that can stop answering. Then
 * this process must not access it, because it would wait, too.
 */
export class HangingDisk implements AsyncDisposable {
  readonly #directory: ReturnType<typeof temporaryDirectory>;
  readonly #child: Subprocess<"ignore", "pipe", "inherit">;

  private constructor(
    directory: ReturnType<typeof temporaryDirectory>,
    child: Subprocess<"ignore", "pipe", "inherit">,
  ) {
    this.#directory = directory;
    this.#child = child;
  }

  static async mount(path: string): Promise<HangingDisk> {
    const directory = temporaryDirectory();
    const script = join(import.meta.dir, "hanging-disk.py");
    const child = Bun.spawn(["python3", script, path, flagIn(directory.path)], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    });
    const disk = new HangingDisk(directory, child);
    for await (const line of lines(child.stdout)) if (line === "mounted") return disk;
    await disk[Symbol.asyncDispose]();
    throw new Error("the file system was not mounted");
  }

  hang(): void {
    writeFileSync(flagIn(this.#directory.path), "");
  }

  resume(): void {
    rmSync(flagIn(this.#directory.path), { force: true });
  }

  /** Unmounts the file system. Whoever waits for it gets an error. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
    this.#directory[Symbol.dispose]();
  }
}

function flagIn(directory: string): string {
  return join(directory, "hangs");
}

/** Whether this process may mount a file system of its own. */
export const canHang: boolean = canMount && Bun.which("python3") !== null && mayOpen("/dev/fuse");
if (!canHang)
  console.warn("SKIPPED: tests with a file system that does not answer; they need root, /dev/fuse and python3");

function mayOpen(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return true;
  } catch {
    return false;
  }
}
