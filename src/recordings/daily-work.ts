import { gte, sql } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";
import { utcDay } from "../text/index.ts";

/** The recordings received and processed on one UTC day. */
type DailyWork = typeof tables.dailyWork.$inferSelect;

type Work = Omit<DailyWork, "day">;

/**
 * Adds to the day's totals, in the transaction of the counted event.
 * @param now milliseconds since the epoch
 */
export function countWork(writer: Pick<Writer, "insert">, now: number, work: Partial<Work>): void {
  const { dailyWork } = tables;
  writer
    .insert(dailyWork)
    .values({ day: utcDay(now), ...work })
    .onConflictDoUpdate({
      target: dailyWork.day,
      set: {
        receivedSeconds: sql`${dailyWork.receivedSeconds} + excluded.received_seconds`,
        completedSeconds: sql`${dailyWork.completedSeconds} + excluded.completed_seconds`,
        completed: sql`${dailyWork.completed} + excluded.completed`,
        failed: sql`${dailyWork.failed} + excluded.failed`,
      },
    })
    .run();
}

/**
 * Returns one entry for each of the last days up to today, oldest first.
 * @param now milliseconds since the epoch
 */
export function readDailyWork(store: Store, now: number, days: number): DailyWork[] {
  const { dailyWork } = tables;
  const wanted = Array.from({ length: days }, (_, ago) => utcDay(now - ago * 86_400_000)).reverse();
  const rows = store
    .select()
    .from(dailyWork)
    .where(gte(dailyWork.day, wanted[0] ?? ""))
    .all();
  const none: Work = { receivedSeconds: 0, completedSeconds: 0, completed: 0, failed: 0 };
  return wanted.map((day) => rows.find((row) => row.day === day) ?? { day, ...none });
}
