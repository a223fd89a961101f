import { and, asc, eq, gte, inArray, isNull, max } from "drizzle-orm";
import { deferSync, deleteSome, type Store, tables, transact, type Writer } from "../../database/index.ts";
import type { LiveEnd, LiveOptions, LiveSegment } from "../contract.ts";
import { formatOptions } from "./stored-options.ts";
import { type TurnSegment, toRow, toSegment } from "./stored-segments.ts";

type Row = typeof tables.liveSessions.$inferSelect;

/** A session that is kept and has not become a recording. */
export type OpenRow = Omit<Row, "recordingId">;

/** Number of segments that are read or removed at once. */
const SEGMENTS_AT_ONCE = 500;

/** The rows of sessions that are kept. Words are stored when they are final. */
export class LiveRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Inserts an open session. */
  insert(
    writer: Writer,
    {
      options,
      ...values
    }: Pick<Row, "id" | "accountId" | "workspaceId" | "holder" | "createdAt"> & {
      readonly options: LiveOptions;
    },
  ): void {
    const first = { options: formatOptions(options), speakerNames: "{}", settledSamples: 0 };
    writer
      .insert(tables.liveSessions)
      .values({ ...values, ...first })
      .run();
  }

  /** Returns the sessions that have not become recordings. */
  listOpen(): OpenRow[] {
    const { liveSessions } = tables;
    return this.#store.select().from(liveSessions).where(isNull(liveSessions.recordingId)).all();
  }

  /** Returns a session that has not become a recording; null if there is none. */
  find(id: string): OpenRow | null {
    return this.#store.select().from(tables.liveSessions).where(isOpen(id)).get() ?? null;
  }

  /**
   * Stores a final segment. A crash of the program loses none, a power cut the last moments.
   * @throws an SQLite error when the session's row is gone, because its account was deleted
   */
  addSegment(id: string, turn: string, segment: LiveSegment): void {
    const row = toRow(id, turn, segment);
    deferSync(this.#store, () => this.#store.insert(tables.liveSegments).values(row).run());
  }

  /** Stores the speaker of segments. */
  setSpeaker(id: string, numbers: readonly number[], speaker: number): void {
    const { liveSegments } = tables;
    const isOne = and(eq(liveSegments.sessionId, id), inArray(liveSegments.number, [...numbers]));
    deferSync(this.#store, () => this.#store.update(liveSegments).set({ speaker }).where(isOne).run());
  }

  /** Stores values of an open session. @returns false if its row is gone */
  change(
    id: string,
    values: { readonly options?: LiveOptions } & Partial<Pick<Row, "speakerNames" | "settledSamples">>,
  ) {
    const { options, ...others } = values;
    const set = { ...others, ...(options === undefined ? {} : { options: formatOptions(options) }) };
    const changed = deferSync(this.#store, () =>
      this.#store
        .update(tables.liveSessions)
        .set(set)
        .where(isOpen(id))
        .returning({ id: tables.liveSessions.id })
        .all(),
    );
    return changed.length > 0;
  }

  /** Stores why a session ended. It becomes a recording, if necessary after the next start. */
  end(writer: Writer, id: string, endReason: LiveEnd, endedAt: number): void {
    const { liveSessions } = tables;
    writer.update(liveSessions).set({ endReason, endedAt }).where(isOpen(id)).run();
  }

  /**
   * Links a session to the recording that it has become, in the transaction that inserts the recording.
   * @throws {Error} when the session's row is gone
   */
  link(writer: Writer, id: string, recordingId: string): void {
    const { liveSessions } = tables;
    const linked = writer
      .update(liveSessions)
      .set({ recordingId, workspaceId: null })
      .where(isOpen(id))
      .returning({ id: liveSessions.id })
      .all();
    if (linked.length === 0) throw new Error("the live session was deleted");
  }

  /** Removes a session that becomes no recording. */
  remove(id: string): void {
    const isOfSession = eq(tables.liveSegments.sessionId, id);
    const removeSome = () =>
      transact(this.#store, (writer) => deleteSome(writer, tables.liveSegments, isOfSession, SEGMENTS_AT_ONCE));
    while (removeSome());
    this.#store.delete(tables.liveSessions).where(isOpen(id)).run();
  }

  /** Returns the number of the next segment of a session. */
  nextNumber(id: string): number {
    const { liveSegments } = tables;
    const row = this.#store
      .select({ last: max(liveSegments.number) })
      .from(liveSegments)
      .where(eq(liveSegments.sessionId, id))
      .get();
    return (row?.last ?? -1) + 1;
  }

  /** Returns the segments of a session from a number on, in order. */
  segments(id: string, from: number): TurnSegment[] {
    return readSegments(this.#store, id, from);
  }
}

/** Returns the segments of a session from a number on, in order. */
export function readSegments(store: Store, sessionId: string, from: number): TurnSegment[] {
  const { liveSegments } = tables;
  const found: TurnSegment[] = [];
  for (let next = from; ; ) {
    const rows = store
      .select()
      .from(liveSegments)
      .where(and(eq(liveSegments.sessionId, sessionId), gte(liveSegments.number, next)))
      .orderBy(asc(liveSegments.number))
      .limit(SEGMENTS_AT_ONCE)
      .all();
    found.push(...rows.map(toSegment));
    const last = rows.at(-1);
    if (last === undefined || rows.length < SEGMENTS_AT_ONCE) return found;
    next = last.number + 1;
  }
}

function isOpen(id: string) {
  return and(eq(tables.liveSessions.id, id), isNull(tables.liveSessions.recordingId));
}
