import { join } from "node:path";
import { root } from "../shared/checkout.ts";
import { withGeneratedTable } from "../shared/circumstances.ts";
import type { Bench } from "./competitor.ts";
import type { Row } from "./table.ts";

const mib = 1024 ** 2;

/** The header and rows of a table. */
export interface Cells {
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

/** Returns the table of durations, resources and word errors. */
export function overview(rows: readonly Row[]): Cells {
  return {
    head: [
      "recording",
      "parallel",
      "program",
      "seconds",
      "× real time",
      "relative to ours",
      "CPU s",
      "peak MiB",
      "WER",
    ],
    lines: rows.map((row) => [
      ...[row.recording, String(row.atOnce), row.by, row.seconds.toFixed(1), row.timesRealTime.toFixed(1)],
      ...[row.relativeToOurs === null ? "" : row.relativeToOurs.toFixed(2), row.cpuSeconds.toFixed(1), peaksOf(row)],
      row.wordErrors === null ? "" : `${((100 * row.wordErrors.errors) / row.wordErrors.length).toFixed(1)} %`,
    ]),
  };
}

/**
 * Returns the time of each step for programs that report it, one recording at a time. In ours, several steps run at the
 * same time on threads of their own.
 */
export function stepsTable(rows: readonly Row[]): Cells {
  return {
    head: ["recording", "program", "step", "calls", "seconds", "share"],
    lines: rows
      .filter(({ atOnce }) => atOnce === 1)
      .flatMap(({ recording, by, steps }) => {
        const all = steps.reduce((sum, { seconds }) => sum + seconds, 0);
        return steps.map(({ name, count, seconds }) => [
          ...[recording, by, name, count === null ? "" : String(count), seconds.toFixed(1)],
          `${((100 * seconds) / all).toFixed(0)} %`,
        ]);
      }),
  };
}

function peaksOf({ peakBytes }: Row): string {
  return Object.entries(peakBytes)
    .map(([name, bytes]) => `${name} ${Math.round(bytes / mib)}`)
    .join(", ");
}

/** Formats a table for a terminal. */
export function asText({ head, lines }: Cells): string {
  const widths = head.map((name, column) => Math.max(name.length, ...lines.map((line) => line[column]?.length ?? 0)));
  return [head, ...lines]
    .map((line) => {
      const cells = line.map((cell, column) => {
        const isNumber = lines.every((one) => /^[\d.]*( %)?$/.test(one[column] ?? ""));
        return isNumber ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
      });
      return cells.join("  ").trimEnd();
    })
    .join("\n");
}

/** Formats a table for a Markdown page. */
export function asMarkdown({ head, lines }: Cells): string {
  return [head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** The page with the latest table. */
export const benchmarksPagePath = join(root, "docs/benchmarks.md");

/** Replaces the figures of the page. @throws {Error} when the page has no markers for them */
export function withFigures(page: string, bench: Omit<Bench, "runs">, rows: readonly Row[]): string {
  return withGeneratedTable(
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

/** Returns date, commit, machine and settings in one line. */
export function circumstancesIn({ date, commit, machine, threads, language }: Omit<Bench, "runs">): string {
  const languageText = language === null ? "language detected" : `language ${language}`;
  return `${date}, commit ${commit}, ${machine}, ${threads} threads, ${languageText}`;
}

/** Returns the number of runs: `3 runs`, `1 to 3 runs`. */
export function runsOf(rows: readonly Row[]): string {
  const counts = rows.map(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${least === most ? most : `${least} to ${most}`} ${most === 1 ? "run" : "runs"}`;
}
