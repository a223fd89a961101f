import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, count, eq, inArray, like, notInArray, or, sql } from "drizzle-orm";
import { type Store, tables, writeSoon } from "../storage/index.ts";

/**
 * What the steps have finished of one recording. A part is written once and never changed, so that a step can be asked
 * again at any time and does only what is missing.
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

  /** What the steps have finished of one of its tracks; the first track's stands with the recording's own. */
  ofTrack(index: number): Checkpoints {
    return new Checkpoints(this.#store, this.#recordingId, index === 0 ? "" : `.${index}`);
  }

  /** A part's payload, or null when it was not finished. A payload that does not fit its schema counts as not finished. */
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

  /** Numbers of the parts of a step that are finished. */
  finished(step: string): Set<number> {
    const rows = this.#store
      .select({ part: tables.checkpoints.part })
      .from(tables.checkpoints)
      .where(and(eq(tables.checkpoints.recordingId, this.#recordingId), eq(tables.checkpoints.step, this.#name(step))))
      .orderBy(asc(tables.checkpoints.part))
      .all();
    return new Set(rows.map((row) => row.part));
  }

  /** How many parts are finished of all steps but these, on all tracks. */
  countExcept(steps: readonly string[]): number {
    const { checkpoints } = tables;
    const row = this.#store
      .select({ parts: count() })
      .from(checkpoints)
      .where(and(eq(checkpoints.recordingId, this.#recordingId), notInArray(checkpoints.step, [...steps])))
      .get();
    return row?.parts ?? 0;
  }

  /** Of a recording that has ended nothing is kept: what was under way may come to its end after that. */
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
      .where(and(eq(recordings.id, this.#recordingId), inArray(recordings.status, ["queued", "processing"])));
    const insert = this.#store
      .insert(tables.checkpoints)
      .select(row)
      .onConflictDoUpdate({
        target: [tables.checkpoints.recordingId, tables.checkpoints.step, tables.checkpoints.part],
        set: { payload: sql`excluded.payload` },
      });
    writeSoon(this.#store, () => insert.run());
  }

  /** Forgets a step on all tracks, so that it is done again from its beginning. */
  clear(step: string): void {
    const remove = this.#store
      .delete(tables.checkpoints)
      .where(
        and(
          eq(tables.checkpoints.recordingId, this.#recordingId),
          or(eq(tables.checkpoints.step, step), like(tables.checkpoints.step, `${step}.%`)),
        ),
      );
    writeSoon(this.#store, () => remove.run());
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
