import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import { deferSync, type Store, tables } from "../storage/index.ts";
import { countWork } from "./daily-work.ts";
import { listRecordings, type RecordingFilter } from "./list-recordings.ts";
import { OpenRecordings } from "./open-recordings.ts";
import type { Recording } from "./recording.ts";
import { RecordingRows } from "./recording-rows.ts";
import { type PackedSegment, type Segment, writeSegments } from "./segments.ts";
import type { Failure, Step } from "./states.ts";
import { forgetAnswer } from "./stored-answers.ts";

export interface NewRecording {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string | null;
  readonly pinnedLanguage: string | null;
  /** Id or absolute path of the current speech model. */
  readonly speechModel: string;
  readonly sourceName: string | null;
  /** Null for an upload. */
  readonly sourceUrl: string | null;
  /** Null for a link that has not been fetched yet. */
  readonly sizeBytes: number | null;
}

/** The part of the store that a statement in the same transaction uses. */
export type Writer = Pick<Store, "insert" | "update" | "delete" | "select">;

/**
 * The records of all recordings. Their states change only through the named transitions here. Each is one statement
 * guarded by its starting state: of two concurrent transitions one succeeds, and the other is reported as failed.
 */
export class Recordings {
  readonly #store: Store;
  readonly #now: () => number;
  /** The rows that belong to recordings in addition to their records. */
  readonly rows: RecordingRows;
  /** Recordings that have not ended. */
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

  /** Returns the ids of all of an account's recordings. */
  idsOf(accountId: string): string[] {
    const rows = this.#store
      .select({ id: tables.recordings.id })
      .from(tables.recordings)
      .where(eq(tables.recordings.accountId, accountId))
      .all();
    return rows.map((row) => row.id);
  }

  /**
   * Returns up to `limit` recordings, newest first. They are in the order of their ids, so pages do not shift when
   * others arrive.
   */
  list(filter: RecordingFilter, limit: number): Recording[] {
    return listRecordings(this.#store, filter, limit);
  }

  /**
   * Creates a record as `queued`, with the account's current vocabulary. It is durable when this returns.
   * @param also runs further statements in the same transaction
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
    // An immediate transaction, because it reads before it writes. Otherwise a concurrent write by a command would make
    // it fail.
    return this.#store.transaction(enter, { behavior: "immediate" });
  }

  /**
   * Deletes a recording that has ended, which makes it invisible at once. `rows.removeDeleted` removes its text and
   * record, after this or in the next server; the caller removes its files.
   * @returns false if it is open, held or does not exist
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

  /** Protects a recording from deletion, or ends the protection. Returns false if nothing changed. */
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

  /**
   * `queued` → `processing`. Returns null if the recording is not (or no longer) queued. A recording that a crashed
   * server left behind can be claimed again.
   */
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
   * `processing` → `queued`: the recording waits for a slot. A recording that is already `queued`, because its link was
   * fetched, stays so.
   * @returns null if it has ended
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

  /**
   * Stores the progress of a recording; `percent` never decreases. A link is fetched while its recording is still
   * `queued`.
   */
  progress(id: string, step: Step, percent: number | null): void {
    const recording = this.get(id);
    const status = step === "fetch" ? "queued" : "processing";
    if (recording?.status !== status) return;
    const reached = percent === null ? recording.percent : Math.max(recording.percent ?? 0, percent);
    // Skips needless writes: a long recording has thousands of parts.
    if (recording.step === step && recording.percent === reached) return;
    const update = this.#store
      .update(tables.recordings)
      .set({ step, percent: reached, updatedAt: this.#now() })
      .where(and(eq(tables.recordings.id, id), eq(tables.recordings.status, status)));
    deferSync(this.#store, () => update.run());
  }

  /**
   * Stores the size of a recording that was fetched from a link; its next step has not begun. Returns false if the
   * recording has ended.
   */
  fetched(id: string, sizeBytes: number): boolean {
    const { recordings } = tables;
    const isOpen = and(eq(recordings.id, id), inArray(recordings.status, ["queued", "processing"]));
    const update = this.#store.update(recordings).set({ sizeBytes, step: null }).where(isOpen);
    return update.returning({ id: recordings.id }).get() !== undefined;
  }

  /** Stores properties of the recording that a step has determined. */
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
        // A repeated step finds the same duration again.
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
    deferSync(this.#store, () => this.#store.transaction(describe));
  }

  /**
   * `processing` → `completed`, with the last of its segments, in one transaction. Returns false if the recording is
   * not being processed.
   */
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
   * `queued` or `processing` → `failed`. Returns false if the recording had already ended. Without speech, the language
   * is cleared unless it was pinned, whatever was detected in the audio.
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
