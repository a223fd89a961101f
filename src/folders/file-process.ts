import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { ownCommand } from "../program/index.ts";
import type { FileCallName, FileCalls, FileSystem } from "./file-calls.ts";
import { type FileRequest, fileReplySchema } from "./file-process-child.ts";
import { HindranceError } from "./hindrances.ts";

interface PendingCall {
  readonly sentAt: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Time in which the process starts even on a busy machine. */
const START_MILLISECONDS = 20_000;
/** Interval of the search for calls without an answer. */
const CHECK_MILLISECONDS = 1000;

/**
 * A process that runs calls of the file system, from its start to its exit. A call on a mount whose server is gone
 * never returns, and would occupy a thread of the runtime's pool, of which there is one for each processor. Here it
 * occupies only this process, which is then killed. A killed process is never restarted; its descriptors are lost.
 */
export class FileProcess implements FileSystem {
  readonly #child: Subprocess<"ignore", "ignore", "ignore">;
  readonly #silentMilliseconds: number;
  readonly #pending = new Map<number, PendingCall>();
  readonly #checks: NodeJS.Timeout;
  #lastId = 0;
  /** Time of the latest answer, or of the start; null until the process reports that it has started. */
  #answeredAt: number | null = null;
  #state: "running" | "silent" | "exited" = "running";

  /** @param silentMilliseconds time without an answer after which the process is killed, once it has started */
  constructor(silentMilliseconds: number) {
    this.#silentMilliseconds = silentMilliseconds;
    this.#child = Bun.spawn(ownCommand("__files"), {
      ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore", serialization: "advanced" },
      ipc: (message: unknown) => this.#receive(message),
      onExit: () =>
        this.#end("exited", new HindranceError("unexpected", { cause: new Error("a file process exited") })),
    });
    this.#child.unref();
    this.#checks = setInterval(() => this.#check(), Math.min(CHECK_MILLISECONDS, silentMilliseconds / 4)).unref();
  }

  /** `silent`: it was killed, and does not exit before its file system answers. */
  get state(): "running" | "silent" | "exited" {
    return this.#state;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** @throws {HindranceError} `silent` when the file system does not answer in time */
  async call<Name extends FileCallName>(
    name: Name,
    ...args: Parameters<FileCalls[Name]>
  ): Promise<ReturnType<FileCalls[Name]>> {
    if (this.#state !== "running") throw new HindranceError(this.#state === "silent" ? "silent" : "unexpected");
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { sentAt: performance.now(), resolve, reject });
    const request: FileRequest = { id, name, args };
    try {
      this.#child.send(request);
    } catch {
      // The process exits now; its end rejects the call.
    }
    // The child runs the function that FileCalls declares under this name.
    return (await promise) as ReturnType<FileCalls[Name]>;
  }

  kill(): void {
    this.#end("silent", new HindranceError("silent"));
    this.#child.kill("SIGKILL");
  }

  #receive(message: unknown): void {
    if (!Value.Check(fileReplySchema, message)) return;
    this.#answeredAt = performance.now();
    const { id, value, error } = message;
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(Object.assign(new Error(error.message), { code: error.code }));
  }

  /** Kills the process if the call that it runs now has no answer for too long. It runs calls in their order. */
  #check(): void {
    const [oldest] = this.#pending.values();
    if (oldest === undefined) return;
    const silent = this.#silentMilliseconds;
    const mostMilliseconds = this.#answeredAt === null ? Math.max(silent, START_MILLISECONDS) : silent;
    const startedAt = Math.max(oldest.sentAt, this.#answeredAt ?? 0);
    if (performance.now() - startedAt > mostMilliseconds) this.kill();
  }

  #end(state: "silent" | "exited", error: HindranceError): void {
    if (this.#state === "exited") return;
    this.#state = state;
    clearInterval(this.#checks);
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of calls) reject(error);
  }
}
