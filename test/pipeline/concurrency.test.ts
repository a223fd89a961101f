import { expect, test } from "bun:test";
import { forEachConcurrently } from "../../src/pipeline/concurrency.ts";

test.each([1, 2, 5])("items are processed in order, %d at once", async (atOnce) => {
  const begun: string[] = [];
  let [running, most] = [0, 0];
  await forEachConcurrently(
    ["a", "b", "c", "d"],
    () => atOnce,
    async (item, index) => {
      begun.push(`${item}${index}`);
      most = Math.max(most, ++running);
      await Bun.sleep(1);
      running--;
    },
  );
  expect(begun).toEqual(["a0", "b1", "c2", "d3"]);
  expect(most).toBe(Math.min(atOnce, 4));
});

test("after a failure, running calls finish and no further call starts", async () => {
  const done: number[] = [];
  const failing = forEachConcurrently(
    [0, 1, 2, 3],
    () => 2,
    async (item) => {
      if (item === 0) throw new Error("the first");
      await Bun.sleep(1);
      done.push(item);
      throw new Error("a later one");
    },
  );
  await expect(failing).rejects.toThrow("the first");
  expect(done).toEqual([1]);
});
