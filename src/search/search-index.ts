import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, desc, eq, gte, inArray, isNull, lt, sql } from "drizzle-orm";
import { deferSync, type Store, tables, transact, values, type Writer } from "../database/index.ts";
import { parseState } from "../segments/index.ts";
import { indexedText } from "./search-query.ts";

const { searchableRecordings } = tables;

/** Row of a recording's name, the last of its 2 ** 21 rows. The rows before it are its segments, by their ids. */
export const NAME_ROW = 2 ** 21 - 1;

/** Number of texts indexed, or looked up, at once, which takes some milliseconds. */
const TEXTS_AT_ONCE = 100;
/** Number of texts that a correction replaces in the index at once. More are replaced in the background. */
const TEXTS_OF_CORRECTION = 200;
const RECORDINGS_AT_ONCE = 500;

/**
 * Adds the texts and the name of an ended recording to SQLite's full-text index, or the rest of them, in batches. Skips
 * a recording that has not ended, is transient or is gone. The index loses a recording together with its segments.
 */
export async function indexRecording(store: Store, recordingId: string, signal: AbortSignal): Promise<void> {
  const number = numberOf(store, recordingId);
  if (number === null) return;
  while (addSome(store, recordingId, number)) {
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
}

/** Adds all ended recordings that are missing from the full-text index, newest first. */
export async function indexMissing(store: Store, signal: AbortSignal): Promise<void> {
  for (const status of values.endedStates) {
    for (let beforeId: string | undefined; ; ) {
      const ids = endedIds(store, status, beforeId);
      for (const id of withoutEntry(store, ids)) await indexRecording(store, id, signal);
      beforeId = ids.at(-1);
      if (ids.length < RECORDINGS_AT_ONCE) break;
      await yieldToEventLoop();
      signal.throwIfAborted();
    }
  }
}

/**
 * Registers a recording and returns its number.
 * @returns null for a recording that is completely indexed, has not ended, is transient, or is gone
 */
function numberOf(store: Store, recordingId: string): number | null {
  const { recordings } = tables;
  const enter = (transaction: Writer) => {
    const existing = entryOf(transaction, recordingId);
    if (existing !== undefined) return existing.isWhole ? null : existing.number;
    const ended = transaction
      .select({ createdAt: recordings.createdAt })
      .from(recordings)
      .where(
        and(
          eq(recordings.id, recordingId),
          inArray(recordings.status, values.endedStates),
          isNull(recordings.deletedAt),
          eq(recordings.isTransient, false),
        ),
      )
      .get();
    if (ended === undefined) return null;
    // Recordings created in the same millisecond each get the next free number.
    for (let number = ended.createdAt - NUMBER_ORIGIN; ; number++) {
      const row = transaction
        .insert(searchableRecordings)
        .values({ number, recordingId, isWhole: false })
        .onConflictDoNothing({ target: searchableRecordings.number })
        .returning({ number: searchableRecordings.number })
        .get();
      if (row !== undefined) return row.number;
    }
  };
  return deferSync(store, () => transact(store, enter));
}

/** Returns the entry of a recording, which has its number. */
function entryOf(writer: Writer, recordingId: string) {
  return writer.select().from(searchableRecordings).where(eq(searchableRecordings.recordingId, recordingId)).get();
}

/**
 * Adds a batch of a recording's texts.
 * @returns whether there are more
 */
function addSome(store: Store, recordingId: string, number: number): boolean {
  const { recordings } = tables;
  const add = (transaction: Writer) => {
    const recording = transaction
      .select({
        sourceName: recordings.sourceName,
        sourceUrl: recordings.sourceUrl,
        revision: recordings.revision,
        correctedState: recordings.correctedState,
        isStale: searchableRecordings.isStale,
      })
      .from(searchableRecordings)
      .innerJoin(recordings, eq(recordings.id, searchableRecordings.recordingId))
      .where(and(eq(searchableRecordings.recordingId, recordingId), isNull(recordings.deletedAt)))
      .get();
    if (recording === undefined) return false;
    const firstRow = parseState(recording.correctedState)?.firstSegment ?? 0;
    const removed = recording.isStale ? NAME_ROW + 1 : firstRow;
    if (removeRowsBelow(transaction, number, removed, TEXTS_AT_ONCE) > 0) return true;
    const enter = (facts: { isWhole: true } | { isStale: false }) =>
      transaction.update(searchableRecordings).set(facts).where(eq(searchableRecordings.number, number)).run();
    if (recording.isStale) enter({ isStale: false });
    const put = (row: number, text: string) => putText(transaction, number, row, text);
    const last = lastRow(transaction, number);
    const some = textsFrom(transaction, recordingId, recording.revision, last + 1);
    for (const { id, text } of some) put(id, text);
    if (some.length === TEXTS_AT_ONCE) return true;
    put(NAME_ROW, recording.sourceName ?? recording.sourceUrl ?? "");
    enter({ isWhole: true });
    return false;
  };
  return deferSync(store, () => transact(store, add));
}

function putText(writer: Writer, number: number, row: number, text: string): void {
  writer.run(sql`INSERT INTO searchable_texts (rowid, text) VALUES ((${number} << 21) + ${row}, ${indexedText(text)})`);
}

/** Returns the last row of a recording in the index; -1 for none. */
function lastRow(writer: Writer, number: number): number {
  const [last] = writer.all<{ row: number }>(
    sql`SELECT rowid & 2097151 AS row FROM searchable_texts
      WHERE rowid BETWEEN ${number} << 21 AND (${number} << 21) + 2097151 ORDER BY rowid DESC LIMIT 1`,
  );
  return last?.row ?? -1;
}

/** Returns the next texts to index, by id. */
function textsFrom(writer: Writer, recordingId: string, revision: number, from: number) {
  const { segments, correctedSegments } = tables;
  const table = revision === 0 ? segments : correctedSegments;
  const id = "id" in table ? table.id : table.index;
  return writer
    .select({ id, text: table.text })
    .from(table)
    .where(and(eq(table.recordingId, recordingId), gte(id, from)))
    .orderBy(asc(id))
    .limit(TEXTS_AT_ONCE)
    .all();
}

/**
 * Updates the index of a recording after a correction. Rows that are not indexed yet are added with the others. After a
 * correction of many segments, all texts are added again in batches, after a call of `SearchIndexer.add`. Until then a search
 * finds some of the former texts.
 * @param texts the latest texts of segments by id; null for one that is gone
 */
export function updateSearchable(writer: Writer, recordingId: string, texts: ReadonlyMap<number, string | null>): void {
  const existing = entryOf(writer, recordingId);
  if (existing === undefined) return;
  const { number, isWhole } = existing;
  if (texts.size > TEXTS_OF_CORRECTION) {
    writer
      .update(searchableRecordings)
      .set({ isWhole: false, isStale: true })
      .where(eq(searchableRecordings.number, number))
      .run();
    return;
  }
  const last = isWhole ? NAME_ROW : lastRow(writer, number);
  // FTS5 writes its pending texts whenever a row is lower than the one before.
  for (const [id, text] of [...texts].sort(([one], [other]) => one - other)) {
    writer.run(sql`DELETE FROM searchable_texts WHERE rowid = (${number} << 21) + ${id}`);
    if (text !== null && id <= last) putText(writer, number, id, text);
  }
}

/**
 * Lets a recording be indexed again, because other segments with higher ids have replaced all of its segments. Until
 * then a search finds some of the former texts.
 */
export function renewSearchable(writer: Writer, recordingId: string): void {
  const isIt = eq(searchableRecordings.recordingId, recordingId);
  const existing = writer.update(searchableRecordings).set({ isWhole: false }).where(isIt).returning().get();
  if (existing === undefined) return;
  // The last row: texts are added behind those that are there.
  writer.run(sql`DELETE FROM searchable_texts WHERE rowid = (${existing.number} << 21) + ${NAME_ROW}`);
}

/** Removes up to `most` texts below a row of a recording, the lowest first. @returns their number */
function removeRowsBelow(writer: Writer, number: number, row: number, most: number): number {
  const some = writer.all<{ row: number }>(
    sql`SELECT rowid & 2097151 AS row FROM searchable_texts
      WHERE rowid >= ${number} << 21 AND rowid < (${number} << 21) + ${row} ORDER BY rowid LIMIT ${most}`,
  );
  const last = some.at(-1)?.row;
  if (last === undefined) return 0;
  writer.run(sql`DELETE FROM searchable_texts WHERE rowid BETWEEN ${number} << 21 AND (${number} << 21) + ${last}`);
  return some.length;
}

function endedIds(store: Store, status: "completed" | "failed", beforeId: string | undefined): string[] {
  const { recordings } = tables;
  return store
    .select({ id: recordings.id })
    .from(recordings)
    .where(and(eq(recordings.status, status), beforeId === undefined ? undefined : lt(recordings.id, beforeId)))
    .orderBy(desc(recordings.id))
    .limit(RECORDINGS_AT_ONCE)
    .all()
    .map(({ id }) => id);
}

/** Returns the ids of recordings that are not in the index, or not completely. */
function withoutEntry(store: Store, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const existing = store
    .select({ id: searchableRecordings.recordingId })
    .from(searchableRecordings)
    .where(and(inArray(searchableRecordings.recordingId, [...ids]), eq(searchableRecordings.isWhole, true)))
    .all();
  const known = new Set(existing.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

/**
 * Origin of the numbers, which count milliseconds from 2020-01-01. With 21 more bits for the row, they fit SQLite's
 * integers for at least 69 years.
 */
const NUMBER_ORIGIN = Date.UTC(2020, 0, 1);

/**
 * Removes up to `most` of a recording's rows from the index, and finally its entry.
 * @returns whether there may be more
 */
export function removeSearchable(writer: Writer, recordingId: string, most: number): boolean {
  const existing = entryOf(writer, recordingId);
  if (existing === undefined) return false;
  const { number } = existing;
  if (removeRowsBelow(writer, number, NAME_ROW + 1, most) === most) return true;
  writer.delete(searchableRecordings).where(eq(searchableRecordings.number, number)).run();
  return false;
}
