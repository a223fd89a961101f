import type { ReadableStreamDefaultReader } from "node:stream/web";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { type FromWorker, fromWorkerSchema, type ToWorker, type WorkerStart } from "../operations/index.ts";
import type { ResolvedOptions } from "./engine-options.ts";
import type { ProcessExit } from "./worker-exit.ts";

interface ProcessEvents {
  onMessage(message: FromWorker): void;
  /** Called for each line that the native libraries wrote. */
  onLogLine(line: string): void;
  /** Called once, however the process ended; also when it was killed and did not exit in time. */
  onExit(exit: ProcessExit): void;
}

/**
 * Makes glibc use one heap for all threads (mallopt(3)), so that memory which one thread has freed serves the others. A
 * process that has started has several heaps already, because Bun's own threads allocate memory.
 */
const ONE_HEAP = { MALLOC_ARENA_MAX: "1" };

type Child = Subprocess<"ignore", "ignore", "pipe">;

/** One worker process, from its start to its exit. It is never restarted; the engine creates another. */
export class WorkerProcess {
  readonly #child: Child;
  readonly #events: ProcessEvents;
  readonly #options: Pick<ResolvedOptions, "killMilliseconds" | "memoryKills">;
  /** Processes that the kernel had killed for lack of memory before this one started. */
  readonly #killsBefore: number;
  readonly #log: ReadableStreamDefaultReader<Uint8Array>;
  readonly #exited = Promise.withResolvers<void>();
  /** Timer after which a killed process is abandoned. */
  #abandonTimer: NodeJS.Timeout | undefined;
  /** Whether the engine has killed the process. */
  #isKilled = false;
  #gone = false;

  constructor(
    start: WorkerStart,
    options: Pick<ResolvedOptions, "command" | "killMilliseconds" | "memoryKills">,
    events: ProcessEvents,
  ) {
    this.#events = events;
    this.#options = options;
    this.#killsBefore = options.memoryKills();
    this.#child = Bun.spawn([...options.command], {
      env: { ...process.env, ...ONE_HEAP, ...start.gpu?.environment },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      serialization: "advanced",
      ipc: (message: unknown) => {
        if (this.#gone) return;
        if (Value.Check(fromWorkerSchema, message)) events.onMessage(message);
        else events.onLogLine("the worker sent a message that does not match the protocol");
      },
      onExit: (_child, exitCode, signal) => {
        const how = { exitCode, signal: signal === null ? null : String(signal) };
        this.#end(this.#wasKilledForMemory(how) ? { ...how, killedForMemory: true } : how);
      },
    });
    this.#log = this.#child.stderr.getReader();
    void this.#forwardLog();
    this.send(start);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a message. It is lost when the process has exited but `onExit` was not called yet. */
  send(message: ToWorker): void {
    if (this.#gone) return;
    try {
      this.#child.send(message);
    } catch {
      // The process is about to exit, in most cases for a reason of its own.
      this.#endProcess();
    }
  }

  kill(): void {
    this.#isKilled = true;
    this.#endProcess();
  }

  #endProcess(): void {
    if (this.#gone) return;
    this.#child.kill("SIGKILL");
    this.#abandonTimer ??= setTimeout(() => this.#abandon(), this.#options.killMilliseconds);
  }

  /** Resolves when the process has exited or was abandoned. */
  exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Abandons the process, so that it no longer keeps this one from exiting. */
  #abandon(): void {
    this.#child.unref();
    this.#child.disconnect();
    void this.#log.cancel();
    this.#end({ exitCode: null, signal: "SIGKILL", abandoned: true });
  }

  #end(exit: ProcessExit): void {
    if (this.#gone) return;
    this.#gone = true;
    clearTimeout(this.#abandonTimer);
    this.#events.onExit(exit);
    this.#exited.resolve();
  }

  /**
   * Returns whether the kernel killed the process. Its counter is that of all processes of the container or service. If
   * it killed another one while this one ran, a later signal of a person is taken for the kernel's.
   */
  #wasKilledForMemory({ signal }: ProcessExit): boolean {
    return signal === "SIGKILL" && !this.#isKilled && this.#options.memoryKills() > this.#killsBefore;
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
