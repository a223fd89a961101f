import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { readDailyWork } from "../../src/recordings/index.ts";
import { writeReleased } from "../support/released/index.ts";

test("the daily totals of an upgraded database are those of its recordings", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "transcribe.db");
  writeReleased("0.1.0", path);
  const store = openDatabase(path);
  type Row = { status: string; duration_seconds: number | null; created_at: number; updated_at: number };
  const rows = store.$client.query<Row, []>("SELECT * FROM recordings").all();
  const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);
  const last = Math.max(...rows.map((row) => row.updated_at));
  const sum = (some: readonly Row[]) => some.reduce((total, row) => total + (row.duration_seconds ?? 0), 0);
  expect(rows.length).toBeGreaterThan(1);
  for (const day of readDailyWork(store, last, 400)) {
    const ended = rows.filter((row) => dayOf(row.updated_at) === day.day);
    const completed = ended.filter(({ status }) => status === "completed");
    expect(day).toEqual({
      day: day.day,
      receivedSeconds: sum(rows.filter((row) => dayOf(row.created_at) === day.day)),
      completedSeconds: sum(completed),
      completed: completed.length,
      failed: ended.filter(({ status }) => status === "failed").length,
    });
  }
  store.$client.close();
});
