import { describe, expect, test } from "bun:test";
import { Budget } from "../../../tools/bench/budget.ts";

describe("a command with a time limit", () => {
  let now = 0;
  const seconds = { least: 10, most: 60 };

  test("gives each measurement the time that it may take at most, or the rest", async () => {
    now = 0;
    const given: number[] = [];
    const budget = new Budget(
      2,
      () => {},
      () => now,
    );
    for (let time = 0; time < 2; time++) {
      await budget.measure("passes", seconds, async (limit) => {
        given.push(limit);
        now += 80_000;
        return null;
      });
    }
    expect(given).toEqual([60, 40]);
    expect(budget.secondsLeft).toBe(0);
    expect(budget.skipped).toEqual([]);
  });

  test("skips what does not fit, and still makes a shorter measurement", async () => {
    now = 0;
    const reported: string[] = [];
    const budget = new Budget(
      1,
      (what) => reported.push(what),
      () => now,
    );
    now = 52_500;
    const made: string[] = [];
    const measure = (what: string, least: number) =>
      budget.measure(what, { least, most: 60 }, async () => {
        made.push(what);
        return null;
      });
    await measure("recordings", 75);
    await measure("passes", 5);
    expect(made).toEqual(["passes"]);
    expect(reported).toEqual(["recordings: it needs 75 s, and 7 s are left"]);
    expect(budget.skipped).toEqual(reported);
  });

  test.each([
    ["a reason of its own", async () => "there is no corpus", "recordings: there is no corpus"],
    ["a failure", () => Promise.reject(new Error("out of memory")), "recordings: out of memory"],
  ])("records %s, and continues", async (_, measure, skipped) => {
    const budget = new Budget(1, () => {});
    await budget.measure("recordings", seconds, measure);
    await budget.measure("passes", seconds, async () => null);
    expect(budget.skipped).toEqual([skipped]);
  });
});
