import { expect, test } from "bun:test";
import { forEachConcurrently, together } from "../../src/pipeline/concurrency.ts";

test.each([1, 2, 5])("items are processed in order, %d at once", async (atOnce) => {
  const begun: string[] = [];
  let [running, most] = [0, 0];
  await forEachConcurrently(["a", "b", "c", "d"], { partsAtOnce: atOnce }, async (item, index) => {
    begun.push(`${item}${index}`);
    most = Math.max(most, ++running);
    await Bun.sleep(1);
    running--;
  });
  expect(begun).toEqual(["a0", "b1", "c2", "d3"]);
  expect(most).toBe(Math.min(atOnce, 4));
});

test("after a failure, running calls finish and no further call starts", async () => {
  const done: number[] = [];
  const failing = forEachConcurrently([0, 1, 2, 3], { partsAtOnce: 2 }, async (item) => {
    if (item === 0) throw new Error("the first");
    await Bun.sleep(1);
    done.push(item);
    throw new Error("a later one");
  });
  await expect(failing).rejects.toThrow("the first");
  expect(done).toEqual([1]);
});

const never = new AbortController().signal;

test("two tasks run at the same time, and both results are returned", async () => {
  const meeting = Promise.withResolvers<string>();
  const first = async () => `${await meeting.promise} to the first`;
  const second = async () => {
    meeting.resolve("from the second");
    return 2;
  };
  expect(await together(never, first, second)).toEqual(["from the second to the first", 2]);
});

test.each([0, 1])(
  "when task %d of two fails, the other is aborted and has stopped before the failure is thrown",
  async (which) => {
    let isStopped = false;
    const fails = async () => {
      throw new Error("the failure");
    };
    const runs = async (signal: AbortSignal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await Bun.sleep(1);
      isStopped = true;
      throw new Error("a later one");
    };
    const tasks: [typeof runs, typeof runs] = which === 0 ? [fails, runs] : [runs, fails];
    await expect(together(never, ...tasks)).rejects.toThrow("the failure");
    expect(isStopped).toBe(true);
  },
);

test("the signal of two tasks aborts both, with its reason", async () => {
  const outer = new AbortController();
  const reasons: unknown[] = [];
  const runs = async (signal: AbortSignal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    reasons.push(signal.reason);
    throw signal.reason;
  };
  const both = together(outer.signal, runs, runs);
  const reason = new Error("suspended");
  outer.abort(reason);
  await expect(both).rejects.toBe(reason);
  expect(reasons).toEqual([reason, reason]);
});
