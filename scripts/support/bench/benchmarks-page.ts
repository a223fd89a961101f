import { join } from "node:path";
import { root } from "../checkout.ts";
import { withKeptTable } from "../kept-table.ts";
import type { Bench } from "./kept-runs.ts";
import { asMarkdown, overview, stepsTable } from "./show-table.ts";
import type { Row } from "./table.ts";

/** The page that keeps the latest table. */
export const benchmarksPagePath = join(root, "docs/benchmarks.md");

/** The page with other figures in the place of those it has. @throws Error where it has no place for them */
export function withFigures(page: string, bench: Omit<Bench, "runs">, rows: readonly Row[]): string {
  return withKeptTable(
    page,
    "scripts/bench --write",
    [
      `${circumstancesIn(bench)}, medians of ${runsOf(rows)}:`,
      asMarkdown(overview(rows)),
      "Time by step, for programs that report it:",
      asMarkdown(stepsTable(rows)),
    ].join("\n\n"),
  );
}

/** When, of what, on what and how, in one line. */
export function circumstancesIn({ date, commit, machine, threads, language }: Omit<Bench, "runs">): string {
  const told = language === null ? "language detected" : `language ${language}`;
  return `${date}, commit ${commit}, ${machine}, ${threads} threads, ${told}`;
}

/** How many runs there were: `3 runs`, `1 to 3 runs`. */
export function runsOf(rows: readonly Row[]): string {
  const counts = rows.map(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${least === most ? most : `${least} to ${most}`} ${most === 1 ? "run" : "runs"}`;
}
