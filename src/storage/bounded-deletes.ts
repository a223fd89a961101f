import { eq, type SQL, sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import type { Writer } from "./database.ts";
import {
  type audioUsage,
  type checkpoints,
  type correctedSegments,
  type revisions,
  searchableRecordings,
  type segments,
  type speakerVoices,
} from "./schema.ts";

/** A table of which so many rows belong to a recording or an account that they are not deleted at once. */
type LongTable =
  | typeof segments
  | typeof correctedSegments
  | typeof revisions
  | typeof checkpoints
  | typeof audioUsage
  | typeof speakerVoices;

/**
 * Deletes up to `most` rows of a table, so that other writers wait only briefly.
 * @returns whether rows may remain
 */
export function deleteSome(writer: Writer, table: LongTable, where: SQL, most: number): boolean {
  const keys = getTableConfig(table).primaryKeys.flatMap(({ columns }) => columns);
  const key = sql.join(keys, sql`, `);
  const deleted = writer.all(
    sql`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${most})
      RETURNING 1`,
  );
  return deleted.length === most;
}

/**
 * Removes up to `most` rows of a recording from the full-text index, the lowest first, and finally its entry.
 * @param number the recording's number in `searchable_recordings`, which forms the high bits of its row ids
 * @returns whether rows may remain
 */
export function removeSearchableRows(writer: Writer, number: number, most: number): boolean {
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
