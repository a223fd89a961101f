import { describe, expect, test } from "bun:test";
import { type Check, ok, problem, warning } from "../../../src/diagnostics/doctor/check.ts";
import { checks, runChecks } from "../../../src/diagnostics/index.ts";
import { contextOf } from "./support.ts";

const check = (id: string, run: Check["run"], heavy?: true): Check => ({
  id,
  title: id,
  explanation: id,
  run,
  ...(heavy === undefined ? {} : { heavy }),
});
const quiet = { fix: false, onStart: () => {} };
const advice = "Do it.";

describe("the list of checks", () => {
  test("has unique ids, and an explanation of each check for the manual", () => {
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, title, explanation } of checks) {
      expect(id).toMatch(/^[a-z]+\.[a-z_]+$/);
      expect(title).toMatch(/^\S.{1,28}\S$/);
      expect(explanation).toMatch(/^[A-Zf].{60,}\.$/);
    }
  });
});

describe("running checks", () => {
  test("returns the results in the order of the checks, whichever finishes first", async () => {
    const slow = check("slow", async () => {
      await Bun.sleep(20);
      return ok("late");
    });
    const results = await runChecks([slow, check("quick", () => ok("early"))], contextOf({}), quiet);
    expect(results.map(({ finding }) => finding.summary)).toEqual(["late", "early"]);
  });

  test("reports a check that throws as a problem, and continues", async () => {
    const broken = check("broken", () => {
      throw new Error("no such thing");
    });
    const [first, second] = await runChecks([broken, check("fine", () => ok("fine"))], contextOf({}), quiet);
    expect(first?.finding).toMatchObject({ status: "problem", summary: "this check itself failed: no such thing" });
    expect(second?.finding.status).toBe("ok");
  });

  test("runs one heavy check at a time", async () => {
    let running = 0;
    let most = 0;
    const heavy = async () => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(5);
      running -= 1;
      return ok("");
    };
    await runChecks(
      ["a", "b", "c"].map((id) => check(id, heavy, true)),
      contextOf({}),
      quiet,
    );
    expect(most).toBe(1);
  });

  test("repairs nothing without --fix", async () => {
    let repairs = 0;
    const worn = check("worn", () =>
      repairs > 0
        ? ok("as new")
        : warning("worn", { advice, repair: { what: "Repair it", apply: () => void repairs++ } }),
    );
    const [before] = await runChecks([worn], contextOf({}), quiet);
    expect([repairs, before?.repaired, before?.finding.status]).toEqual([0, null, "warning"]);
    const [after] = await runChecks([worn], contextOf({}), { ...quiet, fix: true });
    expect(after).toMatchObject({ repaired: { what: "Repair it", failure: null }, finding: { summary: "as new" } });
  });

  test("reports why a repair failed, and keeps the finding", async () => {
    const apply = () => {
      throw new Error("read-only file system");
    };
    const worn = check("worn", () => problem("worn", { advice, repair: { what: "Repair it", apply } }));
    const [result] = await runChecks([worn], contextOf({}), { ...quiet, fix: true });
    expect(result).toMatchObject({ repaired: { failure: "read-only file system" }, finding: { status: "problem" } });
  });

  test("throws the signal's reason instead of returning findings", async () => {
    const controller = new AbortController();
    const interrupted = check("long", async () => {
      controller.abort(new Error("interrupted"));
      controller.signal.throwIfAborted();
      return ok("");
    });
    const context = contextOf({}, { signal: controller.signal });
    expect(runChecks([interrupted, check("next", () => ok(""), true)], context, quiet)).rejects.toThrow("interrupted");
  });
});
