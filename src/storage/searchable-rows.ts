import { eq, sql } from "drizzle-orm";
import type { Store } from "./database.ts";
import { searchableRecordings } from "./schema.ts";

/**
 * Removes up to `most` rows of a recording from the full-text index, the lowest first, and its entry after the last
 * row.
 * @param number the recording's number in `searchable_recordings`, which forms the high bits of its row ids
 * @returns whether rows may remain
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
