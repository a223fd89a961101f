import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import { type Store, tables, writeSoon } from "../storage/index.ts";
import { countWork } from "./daily-work.ts";
import { forgetAnswer } from "./kept-answers.ts";
import { listRecordings, type RecordingFilter } from "./list-recordings.ts";
import { OpenRecordings } from "./open-recordings.ts";
import type { Recording } from "./recording.ts";
import { RecordingRows } from "./recording-rows.ts";
import { type PackedSegment, type Segment, writeSegments } from "./segments.ts";
import type { Failure, Step } from "./states.ts";

export interface NewRecording {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string | null;
  readonly pinnedLanguage: string | null;
  /** Id or absolute path of the speech model that is in use. */
  readonly speechModel: string;
  readonly sourceName: string | null;
  /** Null for an upload. */
  readonly sourceUrl: string | null;
  /** Null for a link: it has not been fetched. */
  readonly sizeBytes: number | null;
}

/** What a statement in the same transaction writes with. */
export type Writer = Pick<Store, "insert" | "update" | "delete" | "select">;

/**
 * The records of all recordings. Their states change only through the named transitions here; each is one statement that
 * is guarded by the state it starts from, so that of two that race one wins and the other is told.
 */
export class Recordings {
  readonly #store: Store;
  readonly #now: () => number;
  /** What belongs to the recordings beside their records. */
  readonly rows: RecordingRows;
  /** Those that have not ended. */
  readonly open: OpenRecordings;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.rows = new RecordingRows(store);
    this.open = new OpenRecordings(store);
  }

  get(id: string): Recording | null {
    return this.#store.select().from(tables.recordings).where(isThere(id)).get() ?? null;
  }

  /** Ids of all of an account's recordings. */
  idsOf(accountId: string): string[] {
    const rows = this.#store
      .select({ id: tables.recordings.id })
      .from(tables.recordings)
      .where(eq(tables.recordings.accountId, accountId))
      .all();
    return rows.map((row) => row.id);
  }

  /** Up to `limit` recordings, newest first: the order of their ids, so that pages stay as they are while others arrive. */
  list(filter: RecordingFilter, limit: number): Recording[] {
    return listRecordings(this.#store, filter, limit);
  }

  /**
   * Enters a recording, `queued`, with its account's vocabulary as it is now. Durable when this returns.
   * @param also what belongs to the same act, in the same transaction
   */
  create(values: NewRecording, also: (writer: Writer, recording: Recording) => void = () => {}): Recording {
    const now = this.#now();
    const { accounts } = tables;
    const enter = (transaction: Writer) => {
      const account = transaction
        .select({ vocabulary: accounts.vocabulary })
        .from(accounts)
        .where(eq(accounts.id, values.accountId))
        .get();
      const first = { status: "queued", language: values.pinnedLanguage, createdAt: now, updatedAt: now } as const;
      const recording = transaction
        .insert(tables.recordings)
        .values({ ...values, ...first, vocabulary: account?.vocabulary ?? null })
        .returning()
        .get();
      also(transaction, recording);
      return recording;
    };
    // It reads before it writes: without the lock from the start, a command's write in between would make it fail.
    return this.#store.transaction(enter, { behavior: "immediate" });
  }

  /**
   * Deletes a recording that has ended: from now on nobody sees it. Its text and its record are removed by
   * `rows.removeDeleted`, after this or by the next server; its files are the caller's to remove.
   * @returns false when it is open, held or not there
   */
  delete(id: string, also: (writer: Writer) => void = () => {}): boolean {
    const { recordings } = tables;
    return this.#store.transaction((transaction) => {
      const hasEnded = inArray(recordings.status, ["completed", "failed"]);
      const row = transaction
        .update(recordings)
        .set({ deletedAt: this.#now() })
        .where(and(isThere(id), hasEnded, isNull(recordings.heldAt)))
        .returning({ id: recordings.id })
        .get();
      if (row === undefined) return false;
      forgetAnswer(transaction, id);
      also(transaction);
      return true;
    });
  }

  /** Keeps a recording from being deleted, or lets go of it. False when that is how it was. */
  setHold(id: string, held: boolean, also: (writer: Writer) => void = () => {}): boolean {
    const { recordings } = tables;
    return this.#store.transaction((transaction) => {
      const row = transaction
        .update(recordings)
        .set({ heldAt: held ? this.#now() : null })
        .where(and(isThere(id), held ? isNull(recordings.heldAt) : isNotNull(recordings.heldAt)))
        .returning({ id: recordings.id })
        .get();
      if (row !== undefined) also(transaction);
      return row !== undefined;
    });
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

  /**
   * `processing` → `queued`: the recording waits for a slot. One that is `queued` already, because its link was fetched, stays so.
   * @returns null when it has ended
   */
  requeue(id: string): Recording | null {
    const { recordings } = tables;
    return (
      this.#store
        .update(recordings)
        .set({ status: "queued", updatedAt: this.#now() })
        .where(and(eq(recordings.id, id), inArray(recordings.status, ["queued", "processing"])))
        .returning()
        .get() ?? null
    );
  }

  /** Says how far a recording is; `percent` never goes down. A link is fetched while its recording is still `queued`. */
  progress(id: string, step: Step, percent: number | null): void {
    const recording = this.get(id);
    const status = step === "fetch" ? "queued" : "processing";
    if (recording?.status !== status) return;
    const reached = percent === null ? recording.percent : Math.max(recording.percent ?? 0, percent);
    // A long recording has thousands of parts.
    if (recording.step === step && recording.percent === reached) return;
    const update = this.#store
      .update(tables.recordings)
      .set({ step, percent: reached, updatedAt: this.#now() })
      .where(and(eq(tables.recordings.id, id), eq(tables.recordings.status, status)));
    writeSoon(this.#store, () => update.run());
  }

  /** Enters the size of a link's recording that was fetched; its next step has not begun. False when it has ended. */
  fetched(id: string, sizeBytes: number): boolean {
    const { recordings } = tables;
    const isOpen = and(eq(recordings.id, id), inArray(recordings.status, ["queued", "processing"]));
    const update = this.#store.update(recordings).set({ sizeBytes, step: null }).where(isOpen);
    return update.returning({ id: recordings.id }).get() !== undefined;
  }

  /** What a step found out about the recording. */
  describe(
    id: string,
    facts: { durationSeconds?: number; language?: string; speechModel?: string; speechModelSha256?: string },
  ): void {
    const { recordings } = tables;
    const { durationSeconds } = facts;
    const isIt = and(eq(recordings.id, id), eq(recordings.status, "processing"));
    const now = this.#now();
    const describe = (transaction: Writer) => {
      if (durationSeconds !== undefined) {
        // A step that is done again finds the same length again.
        const first = transaction
          .update(recordings)
          .set({ durationSeconds })
          .where(and(isIt, isNull(recordings.durationSeconds)))
          .returning({ id: recordings.id })
          .get();
        if (first !== undefined) countWork(transaction, now, { receivedSeconds: durationSeconds });
      }
      transaction
        .update(recordings)
        .set({ ...facts, updatedAt: now })
        .where(isIt)
        .run();
    };
    writeSoon(this.#store, () => this.#store.transaction(describe));
  }

  /** `processing` → `completed`, with the last of its segments, in one transaction. False when it is not being processed. */
  complete(id: string, segments: readonly (Segment | PackedSegment)[]): boolean {
    const { recordings } = tables;
    const now = this.#now();
    return this.#store.transaction((transaction) => {
      const done = transaction
        .update(recordings)
        .set({ status: "completed", step: null, percent: 100, updatedAt: now })
        .where(and(eq(recordings.id, id), eq(recordings.status, "processing")))
        .returning({ durationSeconds: recordings.durationSeconds })
        .get();
      if (done === undefined) return false;
      writeSegments(transaction, id, segments);
      countWork(transaction, now, { completedSeconds: done.durationSeconds ?? 0, completed: 1 });
      return true;
    });
  }

  /**
   * `queued` or `processing` → `failed`. False when it had ended already. Where nobody speaks there is no language, whatever
   * was heard in the sound, unless one was pinned.
   */
  fail(id: string, failure: Failure, also: (writer: Writer) => void = () => {}): boolean {
    const now = this.#now();
    return this.#store.transaction((transaction) => {
      const done = transaction
        .update(tables.recordings)
        .set({
          status: "failed",
          step: null,
          percent: null,
          failureReason: failure.reason,
          failureCause: failure.reason === "internal" ? failure.cause : null,
          ...(failure.reason === "no_speech" ? { language: tables.recordings.pinnedLanguage } : {}),
          updatedAt: now,
        })
        .where(and(eq(tables.recordings.id, id), inArray(tables.recordings.status, ["queued", "processing"])))
        .returning({ id: tables.recordings.id })
        .get();
      if (done === undefined) return false;
      countWork(transaction, now, { failed: 1 });
      also(transaction);
      return true;
    });
  }
}

function isThere(id: string) {
  const { recordings } = tables;
  return and(eq(recordings.id, id), isNull(recordings.deletedAt));
}
