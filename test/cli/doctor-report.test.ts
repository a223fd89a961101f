import { describe, expect, test } from "bun:test";
import { coloured, doctorReport, paintFor, plain } from "../../src/cli/doctor-report.ts";
import type { Finding, Result } from "../../src/diagnostics/index.ts";

const result = (id: string, finding: Finding, repaired: Result["repaired"] = null): Result => ({
  check: { id, title: `Title of ${id}`, explanation: "", run: () => finding },
  finding,
  repaired,
});
const advice = "Free some space.";
const results = [
  result("a.fine", { status: "ok", summary: "all is well", detail: ["a detail of what is well"] }),
  result("b.worse", { status: "warning", summary: "it could be better", advice: "Make it better." }),
  result("c.broken", { status: "problem", summary: "it is broken", detail: ["the reason"], advice }),
  result("d.absent", { status: "skipped", summary: "not here" }),
];
const escapeCode = "\u001b";

describe("the doctor's report", () => {
  const report = doctorReport(results, { paint: plain, width: 80 });

  test("has a line for each check, then the advice, problems first, then the totals", () => {
    const lines = report.split("\n");
    expect(lines.slice(0, 4).map((line) => line.split(/\s{2,}/)[0])).toEqual(["ok", "warning", "PROBLEM", "-"]);
    const order = ["PROBLEM Title of c.broken: it is broken [c.broken]", "    the reason", `  → ${advice}`];
    const todo = [...order, "warning Title of b.worse: it could be better [b.worse]", "  → Make it better."];
    expect(lines.slice(4).filter((line) => line !== "")).toEqual([...todo, "1 problem, 1 warning, 1 ok, 1 skipped"]);
    expect(report).not.toContain("a detail of what is well");
  });

  test("is not wider than the given width, except for longer words", () => {
    const long = result("e.long", {
      status: "problem",
      summary: "word ".repeat(60).trim(),
      advice: "do ".repeat(90).trim(),
    });
    const widths = doctorReport([long], { paint: plain, width: 60 })
      .split("\n")
      .map((line) => line.length);
    expect(Math.max(...widths.slice(1, 5))).toBeLessThanOrEqual(60);
    const narrow = doctorReport([long], { paint: plain, width: 1 });
    expect(narrow).toContain("word");
  });

  test("lists the repairs that were made and those that failed", () => {
    const repaired = [
      result("f.done", { status: "ok", summary: "as new" }, { what: "Repair it", failure: null }),
      result("g.failed", results[2]?.finding ?? { status: "ok", summary: "" }, {
        what: "Repair that",
        failure: "disk full",
      }),
    ];
    const text = doctorReport(repaired, { paint: plain, width: 80 });
    expect(text).toContain("done    Repair it (f.done)");
    expect(text).toContain("FAILED  Repair that (g.failed): disk full");
  });

  test("contains no control sequences from findings", () => {
    const hostile = result("h.hostile", {
      status: "problem",
      summary: `${escapeCode}[2J gone`,
      detail: [`a${escapeCode}]0;b`],
      advice,
    });
    expect(doctorReport([hostile], { paint: plain, width: 80 })).not.toContain(escapeCode);
  });

  test("has colours only on a terminal that supports them", () => {
    const terminal = { isTTY: true };
    expect([
      paintFor(terminal, {}),
      paintFor(terminal, { NO_COLOR: "1" }),
      paintFor(terminal, { TERM: "dumb" }),
      paintFor({}, {}),
    ]).toEqual([coloured, plain, plain, plain]);
    expect(doctorReport(results, { paint: coloured, width: 80 })).toContain(`${escapeCode}[31;1mPROBLEM`);
    expect(report).not.toContain(escapeCode);
  });
});
