import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { root } from "./checkout.ts";
import { CommandError, runCommand } from "./run-command.ts";

/** Date, commit and machine of measurements. */
export interface Circumstances {
  /** Day in UTC: 2026-11-21. */
  readonly date: string;
  /** Short commit hash, with a note when the checkout has changes. */
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

/** Returns `unknown` for a checkout without history. */
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

/**
 * Replaces the table between the two marker comments of a page.
 * @param writer the command that writes the table, e.g. `scripts/evaluate --write`
 * @throws {Error} when the page has no such markers
 */
export function withGeneratedTable(page: string, writer: string, table: string): string {
  const [begin, end] = ["from", "to"].map((edge) => `<!-- ${writer}: ${edge} here -->`) as [string, string];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no markers for the table of ${writer}`);
  return `${page.slice(0, from)}${begin}\n${table}\n${page.slice(to)}`;
}

/** Replaces the table in the file of a page, see `withGeneratedTable`. */
export function writeGeneratedTable(path: string, writer: string, table: string): void {
  writeFileSync(path, withGeneratedTable(readFileSync(path, "utf8"), writer, table));
}
