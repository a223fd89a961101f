import { describe, expect, test } from "bun:test";
import { failures, slowestFiles, summarise, summaryLine, sumOf } from "../../tools/development/test-summary.ts";

describe("the summary of a test run", () => {
  test.each([
    [" 3 pass\n 0 fail\n 4 expect() calls\nRan 3 tests across 1 file. [6ms]\n", 0, "3 passed, 0 failed"],
    [
      "(fail) x\n\n 10 pass\n 1 skip\n 2 todo\n 2 fail\n 1 error\n 7 expect() calls\nRan 15 tests across 2 files. [1s]\n",
      1,
      "10 passed, 2 failed, 3 skipped",
    ],
    ["\u001b[32m 1 pass\u001b[0m\n\u001b[2m 0 fail\u001b[0m\nRan 1 test across 1 file.\n", 0, "1 passed, 0 failed"],
  ])("contains Bun's counts", (output, exitCode, line) => {
    expect(summaryLine(summarise(output, exitCode))).toBe(line);
  });

  test("adds the counts of several runs", () => {
    const counts = { passed: 3, failed: 1, skipped: 0 };
    expect(sumOf([counts, { ...counts, skipped: 2 }])).toEqual({ passed: 6, failed: 2, skipped: 2 });
    expect(sumOf([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
  });

  test("uses the last counts, not counts that a test printed", () => {
    const printed = " 99 pass\n 0 fail\nRan 99 tests across 1 file.\n";
    expect(summaryLine(summarise(`${printed} 1 pass\n 1 fail\nRan 2 tests across 1 file.\n`, 1))).toBe(
      "1 passed, 1 failed",
    );
  });

  test.each([
    ["no counts and no error", "", 0],
    ["a crash before the counts", "(pass) x\n", 134],
    ["a signal", "(pass) x\n", null],
    ["an error that the counts do not contain", " 1 pass\n 0 fail\nRan 1 test across 1 file.\n", 1],
  ])("reports a failure after %s", (_, output, exitCode) => {
    expect(summarise(output, exitCode).failed).toBe(1);
  });

  test("contains the output of failed tests only", () => {
    const error = "error: expected 1\n      at one.test.ts:3";
    const output = `one.test.ts:\nnoise\n(pass) a\n\u001b[31m${error}\u001b[0m\n(fail) b > c [1ms]\n(fail) d\n\ntwo.test.ts:\n(skip) e\n`;
    expect(failures(`${output}\n2 tests failed:\n(fail) b > c [1ms]\n(fail) d\n\n 1 pass\n`)).toEqual([
      `${error}\n(fail) b > c [1ms]`,
      "(fail) d",
    ]);
  });

  test("contains the error of a test file that cannot be loaded, with the file's name", () => {
    const rule = "-".repeat(31);
    const error = `one.test.ts:\n\n# Unhandled error between tests\n${rule}\n1 | throw\nerror: no registry\n      at one.test.ts:1\n${rule}`;
    expect(failures(`zero.test.ts:\n(pass) a\n\n${error}\n\n\ntwo.test.ts:\n(pass) b\n\n 2 pass\n 1 fail\n`)).toEqual([
      error,
    ]);
  });

  test("contains the end of a failed test's output", () => {
    const [kept] = failures(`${"a line\n".repeat(10_000)}the error\n(fail) a\n`);
    expect(kept?.split("\n")).toHaveLength(60);
    expect(kept).toEndWith("the error\n(fail) a");
  });

  test("lists the ten slowest files of the run with their seconds", () => {
    const files = Array.from({ length: 12 }, (_, index) => `./test/${index}.test.ts`);
    const times = Object.fromEntries(files.map((file, index) => [file.slice(2), index * 1100]));
    const lines = slowestFiles(files, { ...times, "test/of-another-run.test.ts": 1e9 });
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe("   12.1 s  test/11.test.ts");
    expect(lines.at(-1)).toBe("    2.2 s  test/2.test.ts");
  });
});
