import { eq, sql } from "drizzle-orm";
import type { Store } from "./database.ts";
import { searchableRecordings } from "./schema.ts";

/**
 * Removes up to so many rows of a recording from the full-text index, the lowest first, and its entry with the last of them.
 * @param number what its rows go by
 * @returns whether there may be more
 */
export function removeSearchableRows(
  writer: Pick<Store, "delete" | "all" | "run">,
  number: number,
  most: number,
): boolean {
  const some = writer.all<{ row: number }>(
    sql`SELECT rowid & 2097151 AS row FROM searchable_texts
      WHERE rowid BETWEEN ${number} << 21 AND (${number} << 21) + 2097151 ORDER BY rowid LIMIT ${most}`,
  );
  const last = some.at(-1)?.row ?? 0;
  writer.run(sql`DELETE FROM searchable_texts WHERE rowid BETWEEN ${number} << 21 AND (${number} << 21) + ${last}`);
  if (some.length === most) return true;
  writer.delete(searchableRecordings).where(eq(searchableRecordings.number, number)).run();
  return false;
}
