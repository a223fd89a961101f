import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, count, eq, inArray, like, notInArray, or, sql } from "drizzle-orm";
import { deferSync, preparedFor, type Store, tables, transact } from "../database/index.ts";
import { OPEN_STATES } from "./states.ts";

/** The statements that run for every part. */
const statementsOf = preparedFor((store) => {
  const { checkpoints, recordings } = tables;
  const value = { id: sql.placeholder("id"), step: sql.placeholder("step"), part: sql.placeholder("part") };
  const ofStep = and(eq(checkpoints.recordingId, value.id), eq(checkpoints.step, value.step));
  const row = store
    .select({
      recordingId: recordings.id,
      step: sql<string>`${value.step}`.as("step"),
      part: sql<number>`${value.part}`.as("part"),
      payload: sql<string>`${sql.placeholder("payload")}`.as("payload"),
    })
    .from(recordings)
    .where(and(eq(recordings.id, value.id), inArray(recordings.status, OPEN_STATES)));
  return {
    payload: store
      .select({ payload: checkpoints.payload })
      .from(checkpoints)
      .where(and(ofStep, eq(checkpoints.part, value.part)))
      .prepare(),
    parts: store
      .select({ part: checkpoints.part })
      .from(checkpoints)
      .where(ofStep)
      .orderBy(asc(checkpoints.part))
      .prepare(),
    write: store
      .insert(checkpoints)
      .select(row)
      .onConflictDoUpdate({
        target: [checkpoints.recordingId, checkpoints.step, checkpoints.part],
        set: { payload: sql`excluded.payload` },
      })
      .prepare(),
  };
});

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
    const row = statementsOf(this.#store).payload.get({ id: this.#recordingId, step: this.#name(step), part });
    if (row === undefined) return null;
    const payload: unknown = JSON.parse(row.payload);
    return Value.Check(schema, payload) ? payload : null;
  }

  /** Returns the numbers of the finished parts of a step. */
  finished(step: string): Set<number> {
    const rows = statementsOf(this.#store).parts.all({ id: this.#recordingId, step: this.#name(step) });
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

  /**
   * Stores a finished part. Stores nothing for a recording that has ended: work in progress may finish after that.
   * @param also writes that are stored together with the part, or not at all
   */
  write<T extends TSchema>(step: string, part: number, _schema: T, payload: Static<T>, also?: () => void): void {
    const { write } = statementsOf(this.#store);
    const values = { id: this.#recordingId, step: this.#name(step), part, payload: JSON.stringify(payload) };
    deferSync(this.#store, () => {
      if (also === undefined) return write.run(values);
      return transact(this.#store, () => {
        write.run(values);
        also();
      });
    });
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

  #name(step: string): string {
    return step + this.#suffix;
  }
}
