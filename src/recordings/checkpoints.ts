import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, count, eq, inArray, like, notInArray, or, sql } from "drizzle-orm";
import { deferSync, type Store, tables } from "../storage/index.ts";
import { OPEN_STATES } from "./states.ts";

/**
 * The finished results of the steps of one recording. A step skips its finished parts, so it can run again at any time
 * and does only the missing ones. Writing a part again replaces it.
 */
export class Checkpoints {
  readonly #store: Store;
  readonly #recordingId: string;
  readonly #suffix: string;

  constructor(store: Store, recordingId: string, suffix = "") {
    this.#store = store;
    this.#recordingId = recordingId;
    this.#suffix = suffix;
  }

  /** Returns the checkpoints of one track; those of the first track are stored with the recording's own. */
  ofTrack(index: number): Checkpoints {
    return new Checkpoints(this.#store, this.#recordingId, index === 0 ? "" : `.${index}`);
  }

  /** Returns a part's payload; null if the part is not finished, or its payload does not match the schema. */
  read<T extends TSchema>(step: string, part: number, schema: T): Static<T> | null {
    const row = this.#store
      .select({ payload: tables.checkpoints.payload })
      .from(tables.checkpoints)
      .where(this.#where(step, part))
      .get();
    if (row === undefined) return null;
    const payload: unknown = JSON.parse(row.payload);
    return Value.Check(schema, payload) ? payload : null;
  }

  /** Returns the numbers of the finished parts of a step. */
  finished(step: string): Set<number> {
    const rows = this.#store
      .select({ part: tables.checkpoints.part })
      .from(tables.checkpoints)
      .where(and(eq(tables.checkpoints.recordingId, this.#recordingId), eq(tables.checkpoints.step, this.#name(step))))
      .orderBy(asc(tables.checkpoints.part))
      .all();
    return new Set(rows.map((row) => row.part));
  }

  /** Counts the finished parts of all steps except these, on all tracks. */
  countExcept(steps: readonly string[]): number {
    const { checkpoints } = tables;
    const row = this.#store
      .select({ parts: count() })
      .from(checkpoints)
      .where(and(eq(checkpoints.recordingId, this.#recordingId), notInArray(checkpoints.step, [...steps])))
      .get();
    return row?.parts ?? 0;
  }

  /** Stores a finished part. Stores nothing for a recording that has ended: work in progress may finish after that. */
  write<T extends TSchema>(step: string, part: number, _schema: T, payload: Static<T>): void {
    const { recordings } = tables;
    const row = this.#store
      .select({
        recordingId: recordings.id,
        step: sql<string>`${this.#name(step)}`.as("step"),
        part: sql<number>`${part}`.as("part"),
        payload: sql<string>`${JSON.stringify(payload)}`.as("payload"),
      })
      .from(recordings)
      .where(and(eq(recordings.id, this.#recordingId), inArray(recordings.status, OPEN_STATES)));
    const insert = this.#store
      .insert(tables.checkpoints)
      .select(row)
      .onConflictDoUpdate({
        target: [tables.checkpoints.recordingId, tables.checkpoints.step, tables.checkpoints.part],
        set: { payload: sql`excluded.payload` },
      });
    deferSync(this.#store, () => insert.run());
  }

  /** Discards the results of a step on all tracks, so that it runs again from the beginning. */
  clear(step: string): void {
    const remove = this.#store
      .delete(tables.checkpoints)
      .where(
        and(
          eq(tables.checkpoints.recordingId, this.#recordingId),
          or(eq(tables.checkpoints.step, step), like(tables.checkpoints.step, `${step}.%`)),
        ),
      );
    deferSync(this.#store, () => remove.run());
  }

  #where(step: string, part: number) {
    return and(
      eq(tables.checkpoints.recordingId, this.#recordingId),
      eq(tables.checkpoints.step, this.#name(step)),
      eq(tables.checkpoints.part, part),
    );
  }

  #name(step: string): string {
    return step + this.#suffix;
  }
}
