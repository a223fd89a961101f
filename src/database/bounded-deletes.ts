import { type SQL, sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import type { Writer } from "./database.ts";
import type {
  audioUsage,
  checkpoints,
  correctedSegments,
  liveSegments,
  revisions,
  segments,
  speakerVoices,
  translatedSegments,
  webhookDeliveries,
} from "./schema.ts";

/** A table of which so many rows belong to a recording or an account that they are not deleted at once. */
type LongTable =
  | typeof segments
  | typeof correctedSegments
  | typeof translatedSegments
  | typeof revisions
  | typeof checkpoints
  | typeof audioUsage
  | typeof speakerVoices
  | typeof liveSegments
  | typeof webhookDeliveries;

/**
 * Deletes up to `most` rows of a table, so that other writers wait only briefly.
 * @returns whether rows may remain
 */
export function deleteSome(writer: Writer, table: LongTable, where: SQL, most: number): boolean {
  const { columns, primaryKeys } = getTableConfig(table);
  const keys = [...columns.filter(({ primary }) => primary), ...primaryKeys.flatMap((key) => key.columns)];
  const key = sql.join(keys, sql`, `);
  const deleted = writer.all(
    sql`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${most})
      RETURNING 1`,
  );
  return deleted.length === most;
}
