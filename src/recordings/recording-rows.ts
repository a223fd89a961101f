import { setImmediate as othersTurn } from "node:timers/promises";
import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { cutLog, type Store, tables, writeSoon } from "../storage/index.ts";
import { removeSearchable } from "./search/index.ts";
import { type PackedSegment, removeSegments, type Segment, writeSegments } from "./segments.ts";

type Writer = Pick<Store, "select" | "insert" | "delete" | "all" | "run">;

/** Rows that are removed in one go: some milliseconds' work. */
const rowsAtOnce = 100;

/**
 * What belongs to the recordings beside their records: the segments, and the checkpoints of the work on them. Those of days
 * are thousands, which take seconds to write or to remove, in which nothing else could be done in this process: so it is
 * done some at a time.
 */
export class RecordingRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Stores some of the segments of a recording that is to be completed. They are nobody's to see before it is. False when it
   * is not being processed.
   */
  addSegments(id: string, segments: readonly (Segment | PackedSegment)[]): boolean {
    return this.#written((transaction) => {
      if (statusOf(transaction, id) !== "processing") return false;
      writeSegments(transaction, id, segments);
      return true;
    });
  }

  /** Removes up to so many segments of a recording that is not completed. @returns whether there may be more */
  removeSegments(id: string, most: number): boolean {
    return this.#written((transaction) => {
      if (statusOf(transaction, id) === "completed") return false;
      return removeSegments(transaction, id, most) === most;
    });
  }

  /**
   * Removes up to so many rows of what the work on a recording has left that has ended: checkpoints, and before them the
   * segments of one that did not complete. So one that has no checkpoints has nothing left.
   * @returns whether there may be more
   */
  removeWork(id: string, most: number): boolean {
    const status = statusOf(this.#store, id);
    if (status !== "completed" && status !== "failed") return false;
    return this.removeSegments(id, most) || this.#written((transaction) => removeCheckpoints(transaction, id, most));
  }

  /**
   * Ids of recordings that have ended, and of whose work something is left: whoever ended them was killed in that moment, or
   * was an earlier version.
   */
  endedWithWork(): string[] {
    const { recordings, checkpoints } = tables;
    const withWork = this.#store.selectDistinct({ id: checkpoints.recordingId }).from(checkpoints);
    return this.#store
      .select({ id: recordings.id })
      .from(recordings)
      .where(and(inArray(recordings.id, withWork), inArray(recordings.status, ["completed", "failed"])))
      .all()
      .map(({ id }) => id);
  }

  /**
   * Removes the texts and then the records of recordings that were deleted; all else has its turn in between. After that
   * nothing of them is in the database's files.
   */
  async removeDeleted(...ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      do await othersTurn();
      while (this.#removeSomeOfDeleted(id));
    }
    if (ids.length > 0) await cutLog(this.#store);
  }

  /** The same for all whose removal was cut off. */
  async removeAllDeleted(): Promise<void> {
    const { recordings } = tables;
    const deleted = this.#store
      .select({ id: recordings.id })
      .from(recordings)
      .where(isNotNull(recordings.deletedAt))
      .all();
    await this.removeDeleted(...deleted.map(({ id }) => id));
  }

  /** Nothing of it is told to anybody before a write that waits for the disk. */
  #written(write: (transaction: Writer) => boolean): boolean {
    // It reads before it writes: without the lock from the start, a command's write in between would make it fail.
    return writeSoon(this.#store, () => this.#store.transaction(write, { behavior: "immediate" }));
  }

  #removeSomeOfDeleted(id: string): boolean {
    const { recordings } = tables;
    const isDeleted = and(eq(recordings.id, id), isNotNull(recordings.deletedAt));
    return this.#written((transaction) => {
      if (transaction.select({ id: recordings.id }).from(recordings).where(isDeleted).get() === undefined) return false;
      if (removeSearchable(transaction, id, rowsAtOnce)) return true;
      if (removeSegments(transaction, id, rowsAtOnce) === rowsAtOnce) return true;
      if (removeCheckpoints(transaction, id, rowsAtOnce)) return true;
      transaction.delete(recordings).where(isDeleted).run();
      return false;
    });
  }
}

function statusOf(reader: Pick<Store, "select">, id: string) {
  const { recordings } = tables;
  return reader.select({ status: recordings.status }).from(recordings).where(eq(recordings.id, id)).get()?.status;
}

function removeCheckpoints(writer: Pick<Store, "delete" | "select">, id: string, most: number): boolean {
  const { checkpoints } = tables;
  const some = writer
    .select({ step: checkpoints.step, part: checkpoints.part })
    .from(checkpoints)
    .where(eq(checkpoints.recordingId, id))
    .limit(most);
  const removed = writer
    .delete(checkpoints)
    .where(and(eq(checkpoints.recordingId, id), sql`(${checkpoints.step}, ${checkpoints.part}) IN ${some}`))
    .returning({ part: checkpoints.part })
    .all();
  return removed.length === most;
}
