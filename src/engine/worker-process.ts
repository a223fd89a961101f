import type { ReadableStreamDefaultReader } from "node:stream/web";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { type FromWorker, fromWorkerSchema, type Start, type ToWorker } from "./protocol.ts";

export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  /** Called for each line that the native libraries wrote. */
  onLogLine(line: string): void;
  /** Called once, however the process ended; also when it was killed and did not exit in time. */
  onExit(how: WorkerExit): void;
}

export interface WorkerExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Set when the process hangs in a driver, where no signal ends it, and was abandoned. */
  readonly leftBehind?: true;
}

/** Time for a killed process to exit: freeing a GPU's memory takes a while. */
const defaultEndingMilliseconds = 10_000;

type Child = Subprocess<"ignore", "ignore", "pipe">;

/** One worker process, from its start to its exit. It is never restarted; the engine creates another. */
export class WorkerProcess {
  readonly #child: Child;
  readonly #events: WorkerEvents;
  readonly #killMilliseconds: number;
  readonly #log: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ended = Promise.withResolvers<void>();
  /** Timer after which a killed process is abandoned. */
  #leaving: NodeJS.Timeout | undefined;
  #gone = false;

  /** @param killMilliseconds how long a killed process may take to exit */
  constructor(
    command: readonly string[],
    start: Start,
    events: WorkerEvents,
    killMilliseconds = defaultEndingMilliseconds,
  ) {
    this.#events = events;
    this.#killMilliseconds = killMilliseconds;
    this.#child = Bun.spawn([...command], {
      env: { ...process.env, ...start.gpu?.environment },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      serialization: "advanced",
      ipc: (message: unknown) => {
        if (this.#gone) return;
        if (Value.Check(fromWorkerSchema, message)) events.onMessage(message);
        else events.onLogLine("the worker sent a message that is none of ours");
      },
      onExit: (_child, exitCode, signal) => this.#end({ exitCode, signal: signal === null ? null : String(signal) }),
    });
    this.#log = this.#child.stderr.getReader();
    void this.#forwardLog();
    this.send(start);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /**
   * Sends a message. When the process has exited but `onExit` was not called yet, the message is lost; `onExit`
   * follows.
   */
  send(message: ToWorker): void {
    if (this.#gone) return;
    try {
      this.#child.send(message);
    } catch {
      this.kill();
    }
  }

  kill(): void {
    if (this.#gone) return;
    this.#child.kill("SIGKILL");
    this.#leaving ??= setTimeout(() => this.#leaveBehind(), this.#killMilliseconds);
  }

  /** Resolves when the process has exited or was abandoned. */
  ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Abandons the process, so that it no longer keeps this one from exiting. */
  #leaveBehind(): void {
    this.#child.unref();
    this.#child.disconnect();
    void this.#log.cancel();
    this.#end({ exitCode: null, signal: "SIGKILL", leftBehind: true });
  }

  #end(how: WorkerExit): void {
    if (this.#gone) return;
    this.#gone = true;
    clearTimeout(this.#leaving);
    this.#events.onExit(how);
    this.#ended.resolve();
  }

  async #forwardLog(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { value: bytes, done } = await this.#log.read();
      if (done) return;
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      // Limits the memory that a line without an end can use.
      rest = (lines.pop() ?? "").slice(0, 4096);
      for (const line of lines) if (line !== "") this.#events.onLogLine(line.slice(0, 4096));
    }
  }
}
