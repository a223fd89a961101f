import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { type FromWorker, fromWorkerSchema, type Start, type ToWorker } from "./protocol.ts";

export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  /** A line the native libraries wrote. */
  onLogLine(line: string): void;
  /** Called once, however it ended. */
  onExit(how: { exitCode: number | null; signal: string | null }): void;
}

/** One worker, from its start to its death. It is never started again; the engine makes another. */
export class WorkerProcess {
  readonly #child: Subprocess<"ignore", "ignore", "pipe">;
  #gone = false;

  constructor(command: readonly string[], start: Start, events: WorkerEvents) {
    this.#child = Bun.spawn([...command], {
      env: { ...process.env, ...start.gpu?.environment },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      serialization: "advanced",
      ipc: (message: unknown) => {
        if (Value.Check(fromWorkerSchema, message)) events.onMessage(message);
        else events.onLogLine("the worker sent a message that is none of ours");
      },
      onExit: (_child, exitCode, signal) => {
        if (this.#gone) return;
        this.#gone = true;
        events.onExit({ exitCode, signal: signal === null ? null : String(signal) });
      },
    });
    void this.#forwardLog(events);
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
      this.#child.kill("SIGKILL");
    }
  }

  kill(): void {
    if (!this.#gone) this.#child.kill("SIGKILL");
  }

  /** Settles when the process is gone. */
  async ended(): Promise<void> {
    await this.#child.exited;
  }

  async #forwardLog(events: WorkerEvents): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of this.#child.stderr) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      // A line without an end must not fill the memory.
      rest = (lines.pop() ?? "").slice(0, 4096);
      for (const line of lines) if (line !== "") events.onLogLine(line.slice(0, 4096));
    }
  }
}
