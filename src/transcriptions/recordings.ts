import { and, count, eq, inArray } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";
import type { Segment } from "./segments.ts";
import { writeSegments } from "./segments.ts";
import type { Failure, Step } from "./states.ts";

export type Recording = typeof tables.recordings.$inferSelect;

export interface NewRecording {
  readonly id: string;
  readonly accountId: string;
  readonly pinnedLanguage: string | null;
  readonly sourceName: string | null;
  readonly sizeBytes: number;
}

/**
 * The records of all recordings. Their states change only through the named transitions here; each is one statement that
 * is guarded by the state it starts from, so that of two that race one wins and the other is told.
 */
export class Recordings {
  readonly #store: Store;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get(id: string): Recording | null {
    return this.#store.select().from(tables.recordings).where(eq(tables.recordings.id, id)).get() ?? null;
  }

  /** How many of an account's recordings are queued or processing. */
  countOpen(accountId: string): number {
    const row = this.#store
      .select({ open: count() })
      .from(tables.recordings)
      .where(
        and(eq(tables.recordings.accountId, accountId), inArray(tables.recordings.status, ["queued", "processing"])),
      )
      .get();
    return row?.open ?? 0;
  }

  /** Ids of all that have not ended, by state, oldest first. */
  listOpen(): { processing: string[]; queued: string[] } {
    const idsOf = (status: "queued" | "processing") =>
      this.#store
        .select({ id: tables.recordings.id })
        .from(tables.recordings)
        .where(eq(tables.recordings.status, status))
        .orderBy(tables.recordings.id)
        .all()
        .map((row) => row.id);
    return { processing: idsOf("processing"), queued: idsOf("queued") };
  }

  /** Enters a recording, `queued`. Durable when this returns. */
  create(values: NewRecording): Recording {
    const now = this.#now();
    return this.#store
      .insert(tables.recordings)
      .values({ ...values, status: "queued", language: values.pinnedLanguage, createdAt: now, updatedAt: now })
      .returning()
      .get();
  }

  /** `queued` → `processing`. Null when it is not queued (any more). One that a dead server left behind is claimed again. */
  claim(id: string): Recording | null {
    return (
      this.#store
        .update(tables.recordings)
        .set({ status: "processing", updatedAt: this.#now() })
        .where(and(eq(tables.recordings.id, id), inArray(tables.recordings.status, ["queued", "processing"])))
        .returning()
        .get() ?? null
    );
  }

  /** `processing` → `queued`, for all at once: when a server starts, nothing is being processed. */
  requeueAll(): void {
    this.#store
      .update(tables.recordings)
      .set({ status: "queued", updatedAt: this.#now() })
      .where(eq(tables.recordings.status, "processing"))
      .run();
  }

  /** Says how far a recording is; `percent` never goes down. */
  progress(id: string, step: Step, percent: number | null): void {
    const recording = this.get(id);
    if (recording?.status !== "processing") return;
    this.#store
      .update(tables.recordings)
      .set({
        step,
        percent: percent === null ? recording.percent : Math.max(recording.percent ?? 0, percent),
        updatedAt: this.#now(),
      })
      .where(and(eq(tables.recordings.id, id), eq(tables.recordings.status, "processing")))
      .run();
  }

  /** What a step found out about the recording. */
  describe(id: string, facts: { durationSeconds?: number; language?: string }): void {
    this.#store
      .update(tables.recordings)
      .set({ ...facts, updatedAt: this.#now() })
      .where(and(eq(tables.recordings.id, id), eq(tables.recordings.status, "processing")))
      .run();
  }

  /** `processing` → `completed`, with its segments, in one transaction. False when it is not being processed. */
  complete(id: string, segments: readonly Segment[]): boolean {
    return this.#store.transaction((transaction) => {
      const done = transaction
        .update(tables.recordings)
        .set({ status: "completed", step: null, percent: 100, updatedAt: this.#now() })
        .where(and(eq(tables.recordings.id, id), eq(tables.recordings.status, "processing")))
        .returning({ id: tables.recordings.id })
        .get();
      if (done === undefined) return false;
      writeSegments(transaction, id, segments);
      transaction.delete(tables.checkpoints).where(eq(tables.checkpoints.recordingId, id)).run();
      return true;
    });
  }

  /** `queued` or `processing` → `failed`. False when it had ended already. */
  fail(id: string, failure: Failure): boolean {
    return this.#store.transaction((transaction) => {
      const done = transaction
        .update(tables.recordings)
        .set({
          status: "failed",
          step: null,
          percent: null,
          failureReason: failure.reason,
          failureCause: failure.reason === "internal" ? failure.cause : null,
          updatedAt: this.#now(),
        })
        .where(and(eq(tables.recordings.id, id), inArray(tables.recordings.status, ["queued", "processing"])))
        .returning({ id: tables.recordings.id })
        .get();
      if (done === undefined) return false;
      transaction.delete(tables.checkpoints).where(eq(tables.checkpoints.recordingId, id)).run();
      return true;
    });
  }
}
