import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { beforeEachWrite } from "./die-at-step.ts";

/**
 * Copies of a directory, each taken before a step of the work of this process. Steps are the writes of databases, and
 * whatever else calls `step`. Until this is disposed of, a copy contains what a process that is killed with SIGKILL before
 * the step leaves on the disk: all completed system calls, and nothing else. One process thereby shows what otherwise
 * takes one killed process for each step.
 */
export class CopiesAtSteps implements Disposable {
  /** Paths of the copies, in the order of their steps. */
  readonly paths: string[] = [];
  readonly #parent = temporaryDirectory();
  readonly #directory: string;
  readonly #every: number;
  readonly #onCopy: (path: string) => void;
  readonly #stopWrites: () => void;
  #steps = 0;
  #isWorking = true;

  /** @param options every: number of steps of which one is copied; onCopy: called with the path of each new copy */
  constructor(directory: string, { every = 1, onCopy = (_path: string) => {} } = {}) {
    this.#directory = directory;
    this.#every = every;
    this.#onCopy = onCopy;
    this.#stopWrites = beforeEachWrite(this.step);
  }

  /** Copies the directory, unless the work has ended. */
  readonly step = (): void => {
    if (!this.#isWorking || this.#steps++ % this.#every > 0) return;
    const path = join(this.#parent.path, String(this.paths.length));
    // Unlike `cpSync`, this keeps the nanoseconds of times and the hard links within the directory.
    const { success } = Bun.spawnSync(["cp", "-a", this.#directory, path], { stderr: "inherit" });
    if (!success) throw new Error(`${this.#directory} cannot be copied`);
    this.#onCopy(path);
    this.paths.push(path);
  };

  /** Ends the work. Later steps are not copied. */
  end(): void {
    this.#isWorking = false;
    this.#stopWrites();
  }

  [Symbol.dispose](): void {
    this.end();
    this.#parent[Symbol.dispose]();
  }
}
