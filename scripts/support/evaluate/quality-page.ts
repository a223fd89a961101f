import { cpus } from "node:os";
import { join } from "node:path";
import { CommandError, runCommand } from "../../../src/models/index.ts";
import { root } from "../checkout.ts";
import type { Row } from "./report.ts";

/** The page that keeps the latest table. */
export const qualityPagePath = join(root, "docs/quality.md");

/** When, of what and on what the figures were had. */
export interface Circumstances {
  /** Day, in UTC: 2026-11-21. */
  readonly date: string;
  /** The commit, and whether the checkout held more than it. */
  readonly commit: string;
  readonly machine: string;
}

export async function circumstances(now: number): Promise<Circumstances> {
  return {
    date: new Date(now).toISOString().slice(0, 10),
    commit: await currentCommit(),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
  };
}

/** A checkout may have come without its history. */
async function currentCommit(): Promise<string> {
  const git = (...args: readonly string[]) => runCommand(["git", "-C", root, ...args]);
  try {
    const commit = (await git("rev-parse", "--short=10", "HEAD")).trim();
    const changed = await git("status", "--porcelain", "--", "src", "native", "models", "scripts");
    return changed === "" ? commit : `${commit} with changes`;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return "unknown";
  }
}

const begin = "<!-- scripts/evaluate --write: from here -->";
const end = "<!-- scripts/evaluate --write: to here -->";

/** The page with another table in the place of the one it has. @throws Error where it has no place for one */
export function withTable(page: string, { date, commit, machine }: Circumstances, rows: readonly Row[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error("docs/quality.md has no place for the table");
  const lines = rows.map(({ measure, value, over }) => `| ${measure} | ${value} | ${over} |`);
  const table = ["| measured | | over |", "|---|---|---|", ...lines].join("\n");
  const said = `${date}, commit ${commit}, ${machine}:`;
  return `${page.slice(0, from)}${begin}\n${said}\n\n${table}\n${page.slice(to)}`;
}
