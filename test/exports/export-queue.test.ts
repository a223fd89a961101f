import { describe, expect, test } from "bun:test";
import { ExportQueue } from "../../src/exports/index.ts";

const never = new AbortController().signal;

/** Until all work has started that can start. */
const started = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Work that runs until it is ended by its name, and the names in the order in which it started. */
class Works {
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

  /** Ends a work that has started, and lets the next one start. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await started();
  }
}

describe("exports", () => {
  test("of one owner run one at a time, in their order, though a slot is free", async () => {
    const works = new Works(2);
    for (const name of ["a1", "a2", "a3"]) void works.add("a", name);
    await started();
    expect(works.started).toEqual(["a1"]);
    await works.end("a1");
    await works.end("a2");
    expect(works.started).toEqual(["a1", "a2", "a3"]);
  });

  test("of another owner start at once, however many the first has waiting", async () => {
    const works = new Works(2);
    for (let count = 1; count <= 6; count++) void works.add("a", `a${count}`);
    void works.add("b", "b1");
    await started();
    expect(works.started).toEqual(["a1", "b1"]);
  });

  test("start in round robin over their owners", async () => {
    const works = new Works(1);
    for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void works.add(name.slice(0, 1), name);
    await started();
    for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await works.end(name);
    expect(works.started).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("never run in more slots than there are", async () => {
    const works = new Works(2);
    for (const owner of ["a", "b", "c", "d"]) void works.add(owner, owner);
    await started();
    expect(works.started).toEqual(["a", "b"]);
    await works.end("b");
    expect(works.started).toEqual(["a", "b", "c"]);
  });

  test("that wait leave the queue as soon as nobody wants them", async () => {
    const works = new Works(1);
    const controller = new AbortController();
    void works.add("a", "a1");
    const gone = works.add("b", "b1", controller.signal);
    void works.add("b", "b2");
    controller.abort(new Error("the client is gone"));
    await expect(gone).rejects.toThrow("the client is gone");
    await works.end("a1");
    expect(works.started).toEqual(["a1", "b2"]);
    await expect(works.add("c", "c1", controller.signal)).rejects.toThrow("the client is gone");
  });

  test("that fail let the next one start", async () => {
    const queue = new ExportQueue(1);
    const failed = queue.run("a", () => Promise.reject(new Error("broken")), never);
    const next = queue.run("a", () => Promise.resolve("made"), never);
    await expect(failed).rejects.toThrow("broken");
    expect(await next).toBe("made");
  });
});
