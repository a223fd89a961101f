import type { ReadableStreamDefaultReader } from "node:stream/web";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { type FromWorker, fromWorkerSchema, type Start, type ToWorker } from "./protocol.ts";

export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  /** A line the native libraries wrote. */
  onLogLine(line: string): void;
  /** Called once, however it ended; also when it was killed and did not go. */
  onExit(how: WorkerExit): void;
}

export interface WorkerExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** It hangs in a driver, where no signal ends it, and was left behind. */
  readonly leftBehind?: true;
}

/** Freeing a GPU's memory takes a killed process some time. */
const defaultEndingMilliseconds = 10_000;

type Child = Subprocess<"ignore", "ignore", "pipe">;

/** One worker, from its start to its death. It is never started again; the engine makes another. */
export class WorkerProcess {
  readonly #child: Child;
  readonly #events: WorkerEvents;
  readonly #endingMilliseconds: number;
  readonly #log: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ended = Promise.withResolvers<void>();
  /** Until it is given up and left behind. */
  #leaving: NodeJS.Timeout | undefined;
  #gone = false;

  /** @param endingMilliseconds how long it may take to be gone when it is killed */
  constructor(
    command: readonly string[],
    start: Start,
    events: WorkerEvents,
    endingMilliseconds = defaultEndingMilliseconds,
  ) {
    this.#events = events;
    this.#endingMilliseconds = endingMilliseconds;
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

  /** Sends a message. Between the worker's death and the news of it there is nobody to hear; `onExit` follows then. */
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
    this.#leaving ??= setTimeout(() => this.#leaveBehind(), this.#endingMilliseconds);
  }

  /** Settles when the process is gone, or was left behind. */
  ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** From now on it does not keep this process from ending. */
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
      // A line without an end must not fill the memory.
      rest = (lines.pop() ?? "").slice(0, 4096);
      for (const line of lines) if (line !== "") this.#events.onLogLine(line.slice(0, 4096));
    }
  }
}
