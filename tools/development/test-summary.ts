/** Escape sequences of colours, which Bun writes when the environment forces them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const COLOUR = /\u001b\[[0-9;]*m/g;

/** Numbers of tests by their result. */
interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Reads the counts at the end of the output of `bun test`. They count a test file that could not be loaded as a
 * failure; the JUnit report omits such files. Without counts, or if the exit status contradicts them, one failure is
 * counted, so that a broken run never passes.
 */
export function summarise(output: string, exitCode: number | null): Summary {
  const counts =
    output
      .replace(COLOUR, "")
      .match(/(?:^ +\d+ [a-z() ]+\n)+Ran \d+ tests? /gm)
      ?.at(-1) ?? "";
  const count = (word: string) => Number(counts.match(new RegExp(`^ +(\\d+) ${word}\\b`, "m"))?.[1] ?? 0);
  const failed = count("fail");
  const broke = exitCode !== 0 || counts === "";
  return {
    passed: count("pass"),
    failed: broke ? Math.max(failed, 1) : failed,
    skipped: count("skip") + count("todo"),
  };
}

/** Returns the counts of several runs together. */
export function sumOf(summaries: readonly Summary[]): Summary {
  const sum = (count: (summary: Summary) => number) => summaries.reduce((total, each) => total + count(each), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  };
}

/** Maximum number of output lines per failed test; the error comes last. */
const keptLines = 60;

/** How Bun begins and ends the error of a test file that cannot be loaded, or an error outside of any test. */
const OUTSIDE_TESTS = "# Unhandled error between tests";
const RULE = /^-{10,}$/;

/**
 * Returns the output of each failed test up to the line that reports the failure, and of each error outside of tests. Of
 * a long run often only the end is kept, which lists the failed tests without their errors.
 */
export function failures(output: string): string[] {
  const found: string[] = [];
  let lines: string[] = [];
  let rules = 0;
  for (const line of output.replace(COLOUR, "").split("\n")) {
    // The list of failed tests and the counts follow.
    if (/^\d+ tests? failed:$/.test(line)) break;
    lines.push(line);
    if (line === OUTSIDE_TESTS) rules = 2;
    else if (rules > 0 && RULE.test(line)) {
      rules--;
      if (rules === 0) found.push(lines.slice(-keptLines).join("\n").trim());
    }
    if (line.startsWith("(fail) ")) found.push(lines.slice(-keptLines).join("\n").trim());
    if (/^\((?:pass|fail|skip|todo)\) /.test(line)) lines = [];
    if (/^\S+\.test\.tsx?:$/.test(line)) lines = [line];
  }
  return found;
}

/** Returns the last line of a run: `N passed, N failed`, and the number of skipped tests if any. */
export function summaryLine({ passed, failed, skipped }: Summary): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** Number of files that a run lists as its slowest. */
const SLOWEST_FILES = 10;

/** Returns lines with the seconds of the slowest test files. @param milliseconds measured, by file */
export function slowestFiles(files: readonly string[], milliseconds: Readonly<Record<string, number>>): string[] {
  return files
    .map((file) => [file.replace(/^\.\//, ""), milliseconds[file.replace(/^\.\//, "")] ?? 0] as const)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SLOWEST_FILES)
    .map(([file, time]) => `${(time / 1000).toFixed(1).padStart(7)} s  ${file}`);
}
