import { and, eq, inArray, isNotNull, isNull, type Placeholder, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { announce } from "../announcements/index.ts";
import { deferSync, type Recording, type Store, tables, transact, type Writer } from "../database/index.ts";
import { latestRevision, type PackedSegment, type Segment, writeSegments } from "../segments/index.ts";
import { applyRespelling, type respelling } from "../transcripts/index.ts";
import { countWork } from "./daily-work.ts";
import { listRecordings, type RecordingFilter } from "./list-recordings.ts";
import { OpenRecordings } from "./open-recordings.ts";
import { storeEnd } from "./outbox.ts";
import { insertQueued, RecordingRows } from "./recording-rows.ts";
import { completeRerun, deleteRerunOf, Reruns } from "./reruns.ts";
import { ENDED_STATES, type Failure, isOpen, OPEN_STATES, type Status, type Step } from "./states.ts";
import { clearAnswer } from "./stored-answers.ts";

/** The columns of a new recording; the hints are null by default, and it is neither translated nor transient. */
type NewRecording = Pick<
  Recording,
  "id" | "accountId" | "workspaceId" | "pinnedLanguage" | "sourceName" | "sourceUrl" | "sizeBytes"
> &
  Partial<Pick<Recording, "prompt" | "minSpeakers" | "maxSpeakers" | "isTranslated" | "isTransient">> & {
    speechModel: string;
  };

/**
 * The records of all recordings. Their states change only through the named transitions here. Each is one statement
 * guarded by its starting state: of two concurrent transitions one succeeds, and the other is reported as failed.
 */
export class Recordings {
  readonly #store: Store;
  readonly #now: () => number;
  /** Prepared once, because it runs for every request and every part of a recording. */
  readonly #find;
  /** The rows that belong to recordings in addition to their records. */
  readonly rows: RecordingRows;
  /** Recordings that have not ended. */
  readonly open: OpenRecordings;
  readonly reruns: Reruns;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#find = store
      .select()
      .from(tables.recordings)
      .where(isVisible(sql.placeholder("id")))
      .prepare();
    this.rows = new RecordingRows(store);
    this.open = new OpenRecordings(store);
    this.reruns = new Reruns(store, now);
  }

  get(id: string): Recording | null {
    return this.#find.get({ id }) ?? null;
  }

  /**
   * Returns up to `limit` recordings, newest first. The order is that of ids, so pages do not shift when others arrive.
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
    return transact(this.#store, (writer) => {
      const recording = insertQueued(writer, values, now);
      also(writer, recording);
      return recording;
    });
  }

  /**
   * Marks a recording that has ended as deleted, which makes it invisible at once. The library removes what is left.
   * @returns false if it is open, held or does not exist
   */
  delete(id: string, also: (writer: Writer) => void = () => {}): boolean {
    const { recordings } = tables;
    return transact(this.#store, (writer) => {
      const hasEnded = inArray(recordings.status, ENDED_STATES);
      const row = writer
        .update(recordings)
        .set({ deletedAt: this.#now() })
        .where(and(isVisible(id), hasEnded, isNull(recordings.heldAt)))
        .returning()
        .get();
      if (row === undefined) return false;
      announce(writer, "recording.deleted", row, this.#now());
      deleteRerunOf(writer, id, this.#now());
      clearAnswer(writer, id);
      also(writer);
      return true;
    });
  }

  /**
   * Marks up to `most` recordings of an account as deleted, whatever their states. A server that processes one stops.
   * @returns the ids of recordings that are marked, also by an interrupted deletion
   */
  deleteSomeOf(accountId: string, most: number): string[] {
    const { recordings } = tables;
    const now = this.#now();
    return transact(this.#store, (writer) => {
      const isOfAccount = eq(recordings.accountId, accountId);
      const some = writer.select({ id: recordings.id }).from(recordings).where(isOfAccount).limit(most).all();
      const ids = some.map(({ id }) => id);
      const cancelled = { ...endOf("failed", now), failureReason: "internal", failureCause: "cancelled" } as const;
      for (const id of ids) {
        if (change(writer, id, OPEN_STATES, cancelled) !== null) storeEnd(writer, id, "cancelled", now);
        clearAnswer(writer, id);
        writer.update(recordings).set({ deletedAt: now }).where(eq(recordings.id, id)).run();
      }
      return ids;
    });
  }

  /** Returns the ids of the recordings whose removal has begun. */
  deletedIds(): string[] {
    const { id, deletedAt } = tables.recordings;
    const rows = this.#store.select({ id }).from(tables.recordings).where(isNotNull(deletedAt)).all();
    return rows.map((row) => row.id);
  }

  /** Returns the ids of the recordings for which a client waited, and which are not deleted yet. */
  transientIds(): string[] {
    const { id, isTransient, rerunOf, deletedAt } = tables.recordings;
    // Only with the literal value can SQLite use the index of transient recordings.
    const isLeft = and(sql`${isTransient} = 1`, isNull(rerunOf), isNull(deletedAt));
    const rows = this.#store.select({ id }).from(tables.recordings).where(isLeft).all();
    return rows.map((row) => row.id);
  }

  /** Turns a transient recording into one that is kept, and that lists show. If it has ended, its end is announced. */
  keep(id: string): void {
    const { recordings } = tables;
    transact(this.#store, (writer) => {
      const wasTransient = and(isVisible(id), eq(recordings.isTransient, true));
      const kept = writer.update(recordings).set({ isTransient: false }).where(wasTransient).returning().get();
      if (kept === undefined || isOpen(kept.status)) return;
      announce(writer, kept.status === "completed" ? "recording.completed" : "recording.failed", kept, this.#now());
    });
  }

  /** Protects a recording from deletion, or ends the protection. Returns false if nothing changed. */
  setHold(id: string, held: boolean, also: (writer: Writer) => void = () => {}): boolean {
    const { recordings } = tables;
    return transact(this.#store, (writer) => {
      const row = writer
        .update(recordings)
        .set({ heldAt: held ? this.#now() : null })
        .where(and(isVisible(id), held ? isNull(recordings.heldAt) : isNotNull(recordings.heldAt)))
        .returning({ id: recordings.id })
        .get();
      if (row !== undefined) also(writer);
      return row !== undefined;
    });
  }

  /**
   * `queued` → `processing`. A recording that a crashed server left in `processing` can be claimed again.
   * @returns null if it has ended
   */
  claim(id: string): Recording | null {
    return change(this.#store, id, OPEN_STATES, { status: "processing", updatedAt: this.#now() });
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
    return change(this.#store, id, OPEN_STATES, { status: "queued", updatedAt: this.#now() });
  }

  /**
   * Stores the progress of a recording; `percent` never decreases. A recording is `queued` while its link is fetched.
   */
  progress(id: string, step: Step, percent: number | null): void {
    const recording = this.get(id);
    const status = step === "fetch" ? "queued" : "processing";
    if (recording?.status !== status) return;
    const reached = percent === null ? recording.percent : Math.max(recording.percent ?? 0, percent);
    // Skips needless writes: a long recording has thousands of parts.
    if (recording.step === step && recording.percent === reached) return;
    const values = { step, percent: reached, updatedAt: this.#now() };
    deferSync(this.#store, () => change(this.#store, id, [status], values));
  }

  /**
   * Stores the size of a recording that was fetched from a link; its next step has not begun.
   * @returns false if the recording has ended
   */
  fetched(id: string, sizeBytes: number): boolean {
    return change(this.#store, id, OPEN_STATES, { sizeBytes, step: null }) !== null;
  }

  /** Stores properties of the recording that a step has determined. */
  describe(
    id: string,
    facts: Partial<
      Pick<
        Recording,
        | "durationSeconds"
        | "audioTrack"
        | "audioTracks"
        | "language"
        | "speechModel"
        | "speechModelSha256"
        | "isTranslated"
      >
    >,
  ): void {
    const now = this.#now();
    const { durationSeconds } = facts;
    const describe = (writer: Writer) => {
      // A repeated step finds the same duration again.
      const isFirst = typeof durationSeconds === "number" && this.get(id)?.durationSeconds === null;
      const described = change(writer, id, ["processing"], { ...facts, updatedAt: now });
      if (isFirst && described !== null) countWork(writer, now, { receivedSeconds: durationSeconds });
    };
    deferSync(this.#store, () => transact(this.#store, describe));
  }

  /**
   * `processing` → `completed`, with the last of its segments, in one transaction. The transcript of a rerun becomes a
   * revision of the recording that it processes again.
   * @param also runs further statements in it
   * @param respelled the segments that the account's replacements change, which become a revision
   * @returns false if the recording is not being processed
   */
  complete(
    id: string,
    segments: readonly (Segment | PackedSegment)[],
    also: (writer: Writer) => void = () => {},
    respelled: readonly respelling.RespelledSegment[] = [],
  ): boolean {
    const now = this.#now();
    return transact(this.#store, (writer) => {
      const completed = change(writer, id, ["processing"], { ...endOf("completed", now), percent: 100 });
      if (completed === null) return false;
      writeSegments(writer, id, segments);
      countWork(writer, now, { completedSeconds: completed.durationSeconds ?? 0, completed: 1 });
      also(writer);
      if (completed.rerunOf === null) {
        applyRespelling(writer, id, respelled, { editor: id, now }, false);
        storeEnd(writer, id, "completed", now);
        const { revision } = latestRevision(writer, id);
        announce(writer, "recording.completed", { ...completed, revision }, now);
      } else completeRerun(writer, completed, respelled, now);
      return true;
    });
  }

  /**
   * `queued` or `processing` → `failed`. Without speech, the language is cleared unless it was pinned, whatever was
   * detected in the audio.
   * @returns false if the recording had already ended
   */
  fail(id: string, failure: Failure, also: (writer: Writer) => void = () => {}): boolean {
    const now = this.#now();
    return transact(this.#store, (writer) => {
      const failed = change(writer, id, OPEN_STATES, {
        ...endOf("failed", now),
        failureReason: failure.reason,
        failureCause: failure.reason === "internal" ? failure.cause : null,
        ...(failure.reason === "no_speech" ? { language: tables.recordings.pinnedLanguage } : {}),
      });
      if (failed === null) return false;
      const isCancelled = failure.reason === "internal" && failure.cause === "cancelled";
      // The recording that a rerun processes again has ended before, and nobody waits for the rerun.
      if (failed.rerunOf === null) {
        storeEnd(writer, id, isCancelled ? "cancelled" : "failed", now);
        announce(writer, "recording.failed", failed, now);
      }
      countWork(writer, now, { failed: 1 });
      also(writer);
      return true;
    });
  }
}

/** Returns the columns that change when a recording ends. */
function endOf(status: "completed" | "failed", now: number) {
  return { status, step: null, percent: null, updatedAt: now, endedAt: now };
}

/** Changes a recording that is in one of these states. Returns null if it is in none of them. */
function change(
  writer: Pick<Writer, "update">,
  id: string,
  from: readonly Status[],
  values: SQLiteUpdateSetSource<typeof tables.recordings>,
): Recording | null {
  const { recordings } = tables;
  return (
    writer
      .update(recordings)
      .set(values)
      .where(and(eq(recordings.id, id), inArray(recordings.status, [...from])))
      .returning()
      .get() ?? null
  );
}

function isVisible(id: string | Placeholder) {
  return and(eq(tables.recordings.id, id), isNull(tables.recordings.deletedAt));
}
