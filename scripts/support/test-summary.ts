/** How a run of `bun test` ended. */
export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Bun's colours, which it writes where the environment forces them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const COLOUR = /\u001b\[[0-9;]*m/g;

/**
 * Reads the counts from the end of what `bun test` wrote, where a test file that could not be loaded counts as a
 * failure (its JUnit report leaves such files out). Without counts, or where the exit status tells of a failure that
 * they don't, one failure is counted, so that a run that broke never looks green.
 */
export function summarise(output: string, exitCode: number | null): TestSummary {
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

/** Lines that are kept of what a failed test printed: its error comes last. */
const keptLines = 60;

/**
 * What each failed test printed until it failed, with the line that says so: of a long run often its end alone is kept, where
 * Bun names them without a reason.
 */
export function failures(output: string): string[] {
  const found: string[] = [];
  let lines: string[] = [];
  for (const line of output.replace(COLOUR, "").split("\n")) {
    // the list of the failed ones follows, and the counts
    if (/^\d+ tests? failed:$/.test(line)) break;
    lines.push(line);
    if (line.startsWith("(fail) ")) found.push(lines.slice(-keptLines).join("\n").trim());
    if (/^\((?:pass|fail|skip|todo)\) |^\S+\.test\.tsx?:$/.test(line)) lines = [];
  }
  return found;
}

/** The line that ends a run: `N passed, N failed`, and how many were skipped where any were. */
export function summaryLine({ passed, failed, skipped }: TestSummary): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
