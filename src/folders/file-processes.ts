import { readFileSync } from "node:fs";
import { mountOf, readMounts } from "../machine/index.ts";
import { FileProcess } from "./file-process.ts";
import { HindranceError } from "./hindrances.ts";

/** Time without an answer after which a file system counts as silent. A sleeping disk needs up to 20 s to start. */
const SILENT_MILLISECONDS = 45_000;

/** The processes for files: one for each mounted file system, so that one that does not answer delays no other. */
export class FileProcesses {
  readonly #silentMilliseconds: number;
  readonly #mountOf: (path: string) => string;
  /** By mount. */
  readonly #processes = new Map<string, FileProcess>();

  /** @param mountOf returns the mount that a path is on, without asking its file system */
  constructor({ silentMilliseconds = SILENT_MILLISECONDS, mountOf = mountPointOf } = {}) {
    this.#silentMilliseconds = silentMilliseconds;
    this.#mountOf = mountOf;
  }

  /**
   * Returns the process for a path, and starts it if there is none.
   * @throws {HindranceError} `silent` when an earlier process still waits for this file system
   */
  at(path: string): FileProcess {
    const mount = this.#mountOf(path);
    const running = this.#processes.get(mount);
    if (running?.state === "running") return running;
    // Another process would wait for the same answer.
    if (running?.state === "silent") throw new HindranceError("silent");
    const started = new FileProcess(this.#silentMilliseconds);
    this.#processes.set(mount, started);
    return started;
  }

  /** Ends the processes that none of the paths needs. */
  retain(paths: Iterable<string>): void {
    if (this.#processes.size === 0) return;
    const needed = new Set([...paths].map((path) => this.#mountOf(path)));
    for (const [mount, running] of this.#processes) {
      if (needed.has(mount)) continue;
      running.kill();
      if (running.state === "exited") this.#processes.delete(mount);
    }
  }

  stop(): void {
    for (const running of this.#processes.values()) running.kill();
  }
}

/** Returns the mount point of a path. The kernel's list of mounts is in memory, so reading it never waits. */
function mountPointOf(path: string): string {
  const mounts = readMounts((file) => readFileSync(file, "utf8"));
  return mountOf(path, mounts)?.mountPoint ?? "/";
}
