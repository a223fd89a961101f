import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { DataDirectory } from "../src/storage/index.ts";
import { programCommand } from "./program.ts";
import { collectLog, environmentWith, here, killedWithParent, type LogLine, type Place } from "./server.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export interface TestWorkerOptions {
  /** Arguments that name the broker, e.g. `--fleet URL` or `--config FILE`. */
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Data directory with results of the self-tests, which take seconds. */
  readonly verdictsOf: string;
  readonly place?: Place;
}

/**
 * `transcribe worker` on a data directory of its own, which survives the process. Disposing of it removes the process
 * and the directory.
 */
export class TestWorker implements AsyncDisposable {
  readonly log: LogLine[] = [];
  readonly #directory = temporaryDirectory();
  readonly #start: () => Subprocess<"ignore", "ignore", "pipe">;
  #child: Subprocess<"ignore", "ignore", "pipe">;
  #end: ReturnType<typeof collectLog>;

  constructor({ args, environment = {}, verdictsOf, place = here }: TestWorkerOptions) {
    const { verdicts } = new DataDirectory(verdictsOf);
    const own = new DataDirectory(this.#directory.path).verdicts;
    if (existsSync(verdicts)) copyFileSync(verdicts, own);
    mkdirSync(join(this.#directory.path, "models"), { recursive: true });
    const command = programCommand("worker", ...args, "--data-dir", this.#directory.path);
    this.#start = () =>
      Bun.spawn(killedWithParent(place(command)), {
        env: environmentWith(environment),
        stdio: ["ignore", "ignore", "pipe"],
      });
    this.#child = this.#start();
    this.#end = collectLog(this.#child, this.log);
  }

  /** Starts another process on the data directory, after the previous one has exited. */
  restart(): void {
    this.#child = this.#start();
    this.#end = collectLog(this.#child, this.log);
  }

  /** Resolves with the exit code when the process exits. */
  get exited(): Promise<number> {
    return this.#child.exited;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get dataDirectory(): string {
    return this.#directory.path;
  }

  /** Data of operations that it has not removed. */
  leftovers(): string[] {
    return readdirSync(join(this.#directory.path, "work", "fleet"));
  }

  /** Ends the worker. @returns its exit code */
  end(signal: NodeJS.Signals): Promise<number> {
    return this.#end(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
    this.#directory[Symbol.dispose]();
  }
}
