import { join } from "node:path";
import { root } from "../checkout.ts";
import type { Circumstances } from "../circumstances.ts";
import { withKeptTable } from "../kept-table.ts";
import type { Row } from "./report.ts";

/** The page that keeps the latest table. */
export const qualityPagePath = join(root, "docs/quality.md");

/** The page with another table in the place of the one it has. @throws Error where it has no place for one */
export function withTable(page: string, { date, commit, machine }: Circumstances, rows: readonly Row[]): string {
  const lines = rows.map(({ measure, value, over }) => `| ${measure} | ${value} | ${over} |`);
  const table = ["| measured | | over |", "|---|---|---|", ...lines].join("\n");
  return withKeptTable(page, "scripts/evaluate --write", `${date}, commit ${commit}, ${machine}:\n\n${table}`);
}
