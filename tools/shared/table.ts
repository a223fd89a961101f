import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./checkout.ts";
import { type Circumstances, circumstances } from "./circumstances.ts";
import { flag } from "./options.ts";

export interface Table {
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

/** Formats a table for a terminal. An empty header is left out. */
export function asText({ head, lines }: Table): string {
  const widths = head.map((name, column) => Math.max(name.length, ...lines.map((line) => line[column]?.length ?? 0)));
  const isNumber = head.map((_, column) => lines.every((line) => /^[\d.]*( %)?$/.test(line[column] ?? "")));
  const all = head.every((name) => name === "") ? lines : [head, ...lines];
  return all
    .map((line) => {
      const cells = line.map((cell, column) => {
        return isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
      });
      return cells.join("  ").trimEnd();
    })
    .join("\n");
}

export function asMarkdown({ head, lines }: Table): string {
  return [head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** Options of a command that prints tables. */
export const reportOptions = {
  json: flag("print the figures as JSON"),
  write: flag("store the tables in the documentation"),
};

/** Tables of a measurement, with the figures behind them. */
export interface Report {
  /** Follow date, commit and machine in the heading: `medians of 3`. */
  readonly terms: readonly string[];
  /** Tables, and sentences between them. */
  readonly sections: readonly (Table | string)[];
  /** Last paragraph of the page, which a terminal does not show. */
  readonly pageOnly?: string;
  /** Everything that was measured, for --json. */
  readonly figures: object;
}

/**
 * Prints a report as text or as JSON, and stores it in docs/benchmarks.md if requested.
 * @param command that the page's markers name: `scripts/bench rows`
 * @returns date, commit, machine and terms
 */
export async function report(
  { terms, sections, pageOnly, figures }: Report,
  { json, write }: { readonly json: boolean; readonly write: boolean },
  command: string,
): Promise<string> {
  const when = await circumstances(Date.now());
  const heading = headingOf(when, ...terms);
  const inForm = (format: (table: Table) => string) =>
    [`${heading}:`, ...sections.map((one) => (typeof one === "string" ? one : format(one)))].join("\n\n");
  console.log(json ? JSON.stringify({ ...when, ...figures }, null, 2) : inForm(asText));
  const text = pageOnly === undefined ? inForm(asMarkdown) : `${inForm(asMarkdown)}\n\n${pageOnly}`;
  if (write) writeGenerated("docs/benchmarks.md", `${command} --write`, text);
  return heading;
}

/** Returns date, commit, machine and further terms in one line. */
export function headingOf({ date, commit, machine }: Circumstances, ...terms: readonly string[]): string {
  return [date, `commit ${commit}`, machine, ...terms].join(", ");
}

/**
 * Replaces the text between the two marker comments of a page.
 * @param writer the command that writes the text: `scripts/evaluate --write`
 * @throws {Error} when the page has no such markers
 */
export function withGenerated(page: string, writer: string, text: string): string {
  const [begin, end] = ["from", "to"].map((edge) => `<!-- ${writer}: ${edge} here -->`) as [string, string];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no markers for the table of ${writer}`);
  return `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`;
}

/** Replaces the text between the markers in the file of a page, see `withGenerated`. @param page path in the checkout */
export function writeGenerated(page: string, writer: string, text: string): void {
  const path = join(root, page);
  writeFileSync(path, withGenerated(readFileSync(path, "utf8"), writer, text));
}
