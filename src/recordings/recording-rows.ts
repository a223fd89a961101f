import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, desc, eq, inArray, isNotNull } from "drizzle-orm";
import {
  deferSync,
  deleteSome,
  preparedFor,
  type Recording,
  type Store,
  tables,
  transact,
  truncateLog,
  values,
  type Writer,
} from "../database/index.ts";
import { removeSearchable } from "../search/index.ts";
import { type PackedSegment, type Segment, writeSegments, writeTranslation } from "../segments/index.ts";
import { ENDED_STATES, OPEN_STATES } from "./states.ts";

type InsertedRow = typeof tables.recordings.$inferInsert;

/** Inserts a record as `queued`, with its account's current vocabulary. @param now milliseconds since the epoch */
export function insertQueued(
  writer: Writer,
  row: Omit<InsertedRow, "status" | "language" | "vocabulary" | "createdAt" | "updatedAt">,
  now: number,
): Recording {
  const { accounts, recordings } = tables;
  const isOwner = eq(accounts.id, row.accountId);
  const account = writer.select({ vocabulary: accounts.vocabulary }).from(accounts).where(isOwner).get();
  const first = { status: "queued", language: row.pinnedLanguage, createdAt: now, updatedAt: now } as const;
  return writer
    .insert(recordings)
    .values({ ...row, ...first, vocabulary: account?.vocabulary ?? null })
    .returning()
    .get();
}

/** Number of rows removed at once, which takes some milliseconds. */
const ROWS_AT_ONCE = 100;

/**
 * The rows that belong to recordings in addition to their records: segments, corrections, checkpoints, the machines of a
 * fleet and the speech models. A recording of days has thousands of the first two, which take seconds to write or
 * remove. They are processed in batches, so that this process is not blocked.
 */
export class RecordingRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Stores a batch of segments of a recording that is about to be completed. They stay invisible until then. Returns
   * false if the recording is not being processed.
   */
  addSegments(id: string, segments: readonly (Segment | PackedSegment)[]): boolean {
    return this.#write((transaction) => {
      if (statusOf(transaction, id) !== "processing") return false;
      writeSegments(transaction, id, segments);
      return true;
    });
  }

  /** Stores a batch of segments of the translation of a recording, like `addSegments`. */
  addTranslation(id: string, segments: readonly PackedSegment[]): boolean {
    return this.#write((transaction) => {
      if (statusOf(transaction, id) !== "processing") return false;
      writeTranslation(transaction, id, segments);
      return true;
    });
  }

  /**
   * Removes up to `most` segments, recognized or translated, of a recording that is not completed.
   * @returns whether there may be more
   */
  removeSegments(id: string, most: number): boolean {
    return this.#write((transaction) => {
      if (statusOf(transaction, id) === "completed") return false;
      return deleteSegments(transaction, id, most) || deleteTranslation(transaction, id, most);
    });
  }

  /**
   * Removes up to `most` rows of work on a recording that has ended: first the segments of one that did not complete,
   * then checkpoints. A recording without checkpoints therefore has no such rows left.
   * @returns whether there may be more
   */
  removeWork(id: string, most: number): boolean {
    const status = statusOf(this.#store, id);
    if (status !== "completed" && status !== "failed") return false;
    return this.removeSegments(id, most) || this.#write((transaction) => deleteCheckpoints(transaction, id, most));
  }

  /** Counts a part that a machine of a fleet computed. Stores nothing for a recording that has ended. */
  countPart(id: string, machine: string): void {
    deferSync(this.#store, () => addPartsOf(this.#store).machine.run({ id, name: machine, parts: 1 }));
  }

  /** Returns how many parts of a recording each machine computed; empty if the server worked alone. */
  machinesOf(id: string): { readonly machine: string; readonly parts: number }[] {
    const { recordingMachines } = tables;
    return this.#store
      .select({ machine: recordingMachines.machine, parts: recordingMachines.parts })
      .from(recordingMachines)
      .where(eq(recordingMachines.recordingId, id))
      .orderBy(asc(recordingMachines.machine))
      .all();
  }

  /** Counts parts that a speech model recognized. Stores nothing for a recording that has ended. */
  countRecognized(id: string, model: string, parts: number): void {
    deferSync(this.#store, () => addPartsOf(this.#store).model.run({ id, name: model, parts }));
  }

  /** Returns how many parts of a recording each speech model recognized, the model with most parts first. */
  modelsOf(id: string): { readonly model: string; readonly parts: number }[] {
    const { recordingModels } = tables;
    return this.#store
      .select({ model: recordingModels.model, parts: recordingModels.parts })
      .from(recordingModels)
      .where(eq(recordingModels.recordingId, id))
      .orderBy(desc(recordingModels.parts), asc(recordingModels.model))
      .all();
  }

  /** Forgets which models recognized parts of a recording, because its words were discarded. */
  clearModels(id: string): void {
    const { recordingModels } = tables;
    deferSync(this.#store, () => this.#store.delete(recordingModels).where(eq(recordingModels.recordingId, id)).run());
  }

  /**
   * Returns the ids of recordings that have ended but still have rows of work. The process that ended them was killed
   * at that moment, or was an earlier version.
   */
  endedWithWork(): string[] {
    const { recordings, checkpoints } = tables;
    const withWork = this.#store.selectDistinct({ id: checkpoints.recordingId }).from(checkpoints);
    return this.#store
      .select({ id: recordings.id })
      .from(recordings)
      .where(and(inArray(recordings.id, withWork), inArray(recordings.status, ENDED_STATES)))
      .all()
      .map(({ id }) => id);
  }

  /** Removes the searchable texts of deleted recordings, in batches between which other work runs. */
  async removeSearchable(ids: readonly string[]): Promise<void> {
    await inBatches(ids, (id) =>
      this.#write((transaction) => isDeleted(transaction, id) && removeSearchable(transaction, id, ROWS_AT_ONCE)),
    );
  }

  /**
   * Removes the texts and then the records of deleted recordings, in batches between which other work runs. After that,
   * the database's files contain nothing of them.
   */
  async removeDeleted(ids: readonly string[]): Promise<void> {
    await inBatches(ids, (id) => this.#removeSomeOfDeleted(id));
    await truncateLog(this.#store);
  }

  /** Runs a write without waiting for the disk. No client learns of it before a later write that does wait. */
  #write(write: (transaction: Writer) => boolean): boolean {
    return deferSync(this.#store, () => transact(this.#store, write));
  }

  #removeSomeOfDeleted(id: string): boolean {
    const { recordings, folderFiles } = tables;
    return this.#write((transaction) => {
      if (!isDeleted(transaction, id)) return false;
      // The indexer may have added some since.
      if (removeSearchable(transaction, id, ROWS_AT_ONCE)) return true;
      if (deleteSegments(transaction, id, ROWS_AT_ONCE)) return true;
      if (deleteTranslation(transaction, id, ROWS_AT_ONCE)) return true;
      if (deleteCorrections(transaction, id, ROWS_AT_ONCE)) return true;
      if (deleteCheckpoints(transaction, id, ROWS_AT_ONCE)) return true;
      if (deleteLiveSegments(transaction, id, ROWS_AT_ONCE)) return true;
      // A file whose results are not written yet keeps its row without the recording, so that it is not taken again.
      transaction
        .delete(folderFiles)
        .where(and(eq(folderFiles.recordingId, id), eq(folderFiles.state, "done")))
        .run();
      transaction.delete(recordings).where(eq(recordings.id, id)).run();
      return false;
    });
  }
}

/** Repeats a step for each id until it returns false. Other work runs before each step. */
async function inBatches(ids: readonly string[], step: (id: string) => boolean): Promise<void> {
  for (const id of ids) {
    do await yieldToEventLoop();
    while (step(id));
  }
}

/** The statements that run for every part: they add parts to a count of an open recording. */
const addPartsOf = preparedFor(({ $client }) => {
  const add = (table: string, column: string) =>
    $client.prepare<void, [{ id: string; name: string; parts: number }]>(
      `INSERT INTO ${table} (recording_id, ${column}, parts)
        SELECT id, $name, $parts FROM recordings WHERE id = $id AND status ${values.oneOf(OPEN_STATES)}
        ON CONFLICT DO UPDATE SET parts = parts + excluded.parts`,
    );
  return { machine: add("recording_machines", "machine"), model: add("recording_models", "model") };
});

function isDeleted(reader: Pick<Writer, "select">, id: string): boolean {
  const { recordings } = tables;
  const isIt = and(eq(recordings.id, id), isNotNull(recordings.deletedAt));
  return reader.select({ id: recordings.id }).from(recordings).where(isIt).get() !== undefined;
}

function statusOf(reader: Pick<Writer, "select">, id: string) {
  const { recordings } = tables;
  return reader.select({ status: recordings.status }).from(recordings).where(eq(recordings.id, id)).get()?.status;
}

const deleteSegments = (writer: Writer, id: string, most: number) =>
  deleteSome(writer, tables.segments, eq(tables.segments.recordingId, id), most);

const deleteTranslation = (writer: Writer, id: string, most: number) =>
  deleteSome(writer, tables.translatedSegments, eq(tables.translatedSegments.recordingId, id), most);

const deleteCorrections = (writer: Writer, id: string, most: number) =>
  deleteSome(writer, tables.correctedSegments, eq(tables.correctedSegments.recordingId, id), most) ||
  deleteSome(writer, tables.revisions, eq(tables.revisions.recordingId, id), most);

const deleteCheckpoints = (writer: Writer, id: string, most: number) =>
  deleteSome(writer, tables.checkpoints, eq(tables.checkpoints.recordingId, id), most);

/** Deletes words of the live session that has become a recording. The session's row is deleted with the record. */
function deleteLiveSegments(writer: Writer, id: string, most: number): boolean {
  const { liveSegments, liveSessions } = tables;
  const session = writer
    .select({ id: liveSessions.id })
    .from(liveSessions)
    .where(eq(liveSessions.recordingId, id))
    .get();
  return session !== undefined && deleteSome(writer, liveSegments, eq(liveSegments.sessionId, session.id), most);
}
