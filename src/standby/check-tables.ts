import type { Database } from "bun:sqlite";
import { codeOf, messageOf } from "../text/index.ts";

/**
 * Checks the tables of a database for damage, one after the other, until the time is over. SQLite's check of a table can't
 * be interrupted.
 * @param remaining returns the milliseconds that are left
 * @returns the damage in SQLite's words, and the tables that were not checked
 */
export function checkTables(
  database: Database,
  remaining: () => number,
): { readonly faults: readonly string[]; readonly unchecked: readonly string[] } {
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rootpage",
    )
    .all();
  const faults: string[] = [];
  const unchecked: string[] = [];
  for (const { name } of tables) {
    if (remaining() <= 0) {
      unchecked.push(name);
      continue;
    }
    const check = `PRAGMA quick_check("${name.replaceAll('"', '""')}")`;
    try {
      const rows = database.query<{ quick_check: string }, []>(check).all();
      faults.push(...rows.map((row) => row.quick_check).filter((text) => text !== "ok"));
    } catch (error) {
      if (codeOf(error) !== "SQLITE_CORRUPT") throw error;
      faults.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { faults, unchecked };
}
