import { describe, expect, test } from "bun:test";
import { ExportQueue } from "../../src/exports/index.ts";

const never = new AbortController().signal;

/** Resolves when every task that can start has started. */
const started = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Tasks that run until they are ended by name, and their names in the order in which they started. */
class Tasks {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #queue: ExportQueue;

  constructor(slots: number) {
    this.#queue = new ExportQueue(slots);
  }

  add(owner: string, name: string, signal: AbortSignal = never): Promise<string> {
    const work = () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      this.started.push(name);
      this.#ends.set(name, () => resolve(name));
      return promise;
    };
    return this.#queue.run(owner, work, signal);
  }

  /** Ends a started task, and lets the next one start. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await started();
  }
}

describe("the tasks of the export queue", () => {
  test("run one at a time and in order for one owner, although a slot is free", async () => {
    const tasks = new Tasks(2);
    for (const name of ["a1", "a2", "a3"]) void tasks.add("a", name);
    await started();
    expect(tasks.started).toEqual(["a1"]);
    await tasks.end("a1");
    await tasks.end("a2");
    expect(tasks.started).toEqual(["a1", "a2", "a3"]);
  });

  test("start at once for another owner, however many the first has waiting", async () => {
    const tasks = new Tasks(2);
    for (let count = 1; count <= 6; count++) void tasks.add("a", `a${count}`);
    void tasks.add("b", "b1");
    await started();
    expect(tasks.started).toEqual(["a1", "b1"]);
  });

  test("start in round robin over the owners", async () => {
    const tasks = new Tasks(1);
    for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void tasks.add(name.slice(0, 1), name);
    await started();
    for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await tasks.end(name);
    expect(tasks.started).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("never use more slots than there are", async () => {
    const tasks = new Tasks(2);
    for (const owner of ["a", "b", "c", "d"]) void tasks.add(owner, owner);
    await started();
    expect(tasks.started).toEqual(["a", "b"]);
    await tasks.end("b");
    expect(tasks.started).toEqual(["a", "b", "c"]);
  });

  test("leave the queue as soon as they are aborted", async () => {
    const tasks = new Tasks(1);
    const controller = new AbortController();
    void tasks.add("a", "a1");
    const gone = tasks.add("b", "b1", controller.signal);
    void tasks.add("b", "b2");
    controller.abort(new Error("the client is gone"));
    await expect(gone).rejects.toThrow("the client is gone");
    await tasks.end("a1");
    expect(tasks.started).toEqual(["a1", "b2"]);
    await expect(tasks.add("c", "c1", controller.signal)).rejects.toThrow("the client is gone");
  });

  test("let the next one start when they fail", async () => {
    const queue = new ExportQueue(1);
    const failed = queue.run("a", () => Promise.reject(new Error("broken")), never);
    const next = queue.run("a", () => Promise.resolve("made"), never);
    await expect(failed).rejects.toThrow("broken");
    expect(await next).toBe("made");
  });
});
