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
  test("has names that never collide, and an explanation for the manual in each", () => {
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
  test("gives the results in the order of the checks, whichever ends first", async () => {
    const slow = check("slow", async () => {
      await Bun.sleep(20);
      return ok("late");
    });
    const results = await runChecks([slow, check("quick", () => ok("early"))], contextOf({}), quiet);
    expect(results.map(({ finding }) => finding.summary)).toEqual(["late", "early"]);
  });

  test("reports a check that throws as a problem of that check, and goes on", async () => {
    const broken = check("broken", () => {
      throw new Error("no such thing");
    });
    const [first, second] = await runChecks([broken, check("fine", () => ok("fine"))], contextOf({}), quiet);
    expect(first?.finding).toMatchObject({ status: "problem", summary: "this check itself failed: no such thing" });
    expect(second?.finding.status).toBe("ok");
  });

  test("has one check compute at a time", async () => {
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

  test("mends nothing unless it is told to", async () => {
    let mended = 0;
    const worn = check("worn", () =>
      mended > 0 ? ok("as new") : warning("worn", { advice, mending: { what: "Mend it", apply: () => void mended++ } }),
    );
    const [before] = await runChecks([worn], contextOf({}), quiet);
    expect([mended, before?.mended, before?.finding.status]).toEqual([0, null, "warning"]);
    const [after] = await runChecks([worn], contextOf({}), { ...quiet, fix: true });
    expect(after).toMatchObject({ mended: { what: "Mend it", failure: null }, finding: { summary: "as new" } });
  });

  test("says why something could not be mended, and still finds it wrong", async () => {
    const apply = () => {
      throw new Error("read-only file system");
    };
    const worn = check("worn", () => problem("worn", { advice, mending: { what: "Mend it", apply } }));
    const [result] = await runChecks([worn], contextOf({}), { ...quiet, fix: true });
    expect(result).toMatchObject({ mended: { failure: "read-only file system" }, finding: { status: "problem" } });
  });

  test("ends with the signal's reason, not with findings", async () => {
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
