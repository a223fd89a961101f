import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, eq, gte, sql } from "drizzle-orm";
import { preparedFor, type Store, tables } from "../storage/index.ts";
import type { Outline, SegmentWithWords, StoredSegment } from "./segments.ts";
import { transcriptFactsSchema } from "./transcript-facts.ts";

const count = Type.Integer({ minimum: 0 });

const stateSchema = Type.Object({
  /** Numbers of the speakers, in order of first appearance. */
  order: Type.Array(count),
  /** Number of the next new speaker. */
  nextSpeaker: count,
  /** Id of the next new segment. */
  nextSegment: count,
  /** The lowest id that a segment can have, because the whole transcript was replaced; absent if it never was. */
  firstSegment: Type.Optional(count),
  /** The facts about the recognized transcript, once another one has replaced it. */
  recognized: Type.Optional(transcriptFactsSchema),
  /** Number of the latest revision that was removed because there were too many; 0 for none. */
  trimmed: count,
  /** Bytes of the segments in their stored form; absent in a state of an earlier version. */
  size: Type.Optional(count),
});
/** Facts about a corrected transcript. Numbers of speakers and ids of segments are never used again. */
export type CorrectedState = Static<typeof stateSchema>;

/** Parses stored facts. Returns null for none, and for others than this program writes. */
export function parseState(stored: string | null): CorrectedState | null {
  if (stored === null) return null;
  const parsed: unknown = JSON.parse(stored);
  return Value.Check(stateSchema, parsed) ? parsed : null;
}

/** The place of a recording's latest segments. */
interface Latest {
  readonly recordingId: string;
  /** The recognized segments until somebody corrects them. */
  readonly table: typeof tables.segments | typeof tables.correctedSegments;
  readonly isCorrected: boolean;
  /** Converts a speaker's number into the position in the order of first appearance. */
  readonly shownSpeaker: (number: number) => number;
}

const columnsOfRecording = preparedFor((store) =>
  store
    .select({ revision: tables.recordings.revision, state: tables.recordings.correctedState })
    .from(tables.recordings)
    .where(eq(tables.recordings.id, sql.placeholder("id")))
    .prepare(),
);

/** Returns the number of the latest revision, which is 0 if nobody has corrected the transcript, and its facts. */
export function latestRevision(store: Store, recordingId: string) {
  const { revision = 0, state = null } = columnsOfRecording(store).get({ id: recordingId }) ?? {};
  return { revision, state: parseState(state) };
}

function latestOf(store: Store, recordingId: string): Latest {
  const { revision, state } = latestRevision(store, recordingId);
  const isCorrected = revision > 0;
  const positions = new Map(state?.order.map((number, position) => [number, position]));
  return {
    recordingId,
    table: isCorrected ? tables.correctedSegments : tables.segments,
    isCorrected,
    shownSpeaker: (number) => positions.get(number) ?? number,
  };
}

/** Condition for the segments of a recording from an index on. */
function segmentsFrom({ recordingId, table }: Latest, fromIndex: number) {
  return and(eq(table.recordingId, recordingId), gte(table.index, fromIndex));
}

function columnsOf({ table }: Latest) {
  const { index, startMilliseconds, endMilliseconds, speaker, text } = table;
  return { id: "id" in table ? table.id : table.index, index, startMilliseconds, endMilliseconds, speaker, text };
}

/** Returns up to `limit` segments of a recording from `fromIndex` on, in order. */
export function readSegments(store: Store, recordingId: string, fromIndex: number, limit: number): StoredSegment[] {
  const latest = latestOf(store, recordingId);
  return store
    .select(columnsOf(latest))
    .from(latest.table)
    .where(segmentsFrom(latest, fromIndex))
    .orderBy(asc(latest.table.index))
    .limit(limit)
    .all()
    .map((segment) => ({ ...segment, speaker: latest.shownSpeaker(segment.speaker) }));
}

/** Returns the segment with an id; null if it is joined to another one, or removed. */
export function readSegment(store: Store, recordingId: string, id: number): StoredSegment | null {
  const latest = latestOf(store, recordingId);
  const columns = columnsOf(latest);
  const isIt = and(eq(latest.table.recordingId, recordingId), eq(columns.id, id));
  const segment = store.select(columns).from(latest.table).where(isIt).get();
  return segment === undefined ? null : { ...segment, speaker: latest.shownSpeaker(segment.speaker) };
}

/** A segment whose words are still JSON. */
type Row = StoredSegment & { readonly words: string };

function readRows(store: Store, latest: Latest, fromIndex: number, limit: number): Row[] {
  return store
    .select({ ...columnsOf(latest), words: latest.table.words })
    .from(latest.table)
    .where(segmentsFrom(latest, fromIndex))
    .orderBy(asc(latest.table.index))
    .limit(limit)
    .all();
}

function* parsed({ shownSpeaker }: Latest, rows: readonly Row[]): Generator<SegmentWithWords> {
  for (const { words, speaker, ...segment } of rows) {
    yield { ...segment, speaker: shownSpeaker(speaker), words: JSON.parse(words) as SegmentWithWords["words"] };
  }
}

/** Number of segments that a page reads at once: a page may end after any of them, and each may take a megabyte. */
const PAGE_ROWS = 20;

/** Yields the segments of a recording from `fromIndex` on, in order. It reads no more of them than a page takes. */
export function* segmentsFromIndex(store: Store, recordingId: string, fromIndex: number): Generator<StoredSegment> {
  for (let from = fromIndex; ; from += PAGE_ROWS) {
    const rows = readSegments(store, recordingId, from, PAGE_ROWS);
    yield* rows;
    if (rows.length < PAGE_ROWS) return;
  }
}

/** Yields the same segments with their words. */
export function* wordsFromIndex(store: Store, recordingId: string, fromIndex: number): Generator<SegmentWithWords> {
  yield* onDemand(store, latestOf(store, recordingId), fromIndex, PAGE_ROWS);
}

const ROWS_AT_ONCE = 500;
/** A corrected transcript is read at once, because a person may change it meanwhile: 18 hours take 25 ms and 15 MB. */
const ALL_ROWS = 2 ** 21;

/** Returns all segments of a recording with their words, in order. Recognized ones are read on demand. */
export function allSegmentsWithWords(store: Store, recordingId: string): Generator<SegmentWithWords> {
  const latest = latestOf(store, recordingId);
  return latest.isCorrected
    ? parsed(latest, readRows(store, latest, 0, ALL_ROWS))
    : onDemand(store, latest, 0, ROWS_AT_ONCE);
}

function* onDemand(store: Store, latest: Latest, fromIndex: number, rowsAtOnce: number): Generator<SegmentWithWords> {
  for (let from = fromIndex; ; from += rowsAtOnce) {
    const rows = readRows(store, latest, from, rowsAtOnce);
    yield* parsed(latest, rows);
    if (rows.length < rowsAtOnce) return;
  }
}

const OUTLINE_ROWS_AT_ONCE = 2000;

/**
 * Reads an outline, a recognized one in batches, since transcripts of days have tens of thousands of segments. A
 * corrected one is read at once, in 10 ms for 18 hours.
 */
export async function readOutline(store: Store, recordingId: string): Promise<Outline> {
  const latest = latestOf(store, recordingId);
  const { table } = latest;
  const outline: Outline = { startMilliseconds: [], endMilliseconds: [], speakers: [], characters: [] };
  const limit = latest.isCorrected ? ALL_ROWS : OUTLINE_ROWS_AT_ONCE;
  for (let from = 0; ; from += limit) {
    const rows = store
      .select({
        start: table.startMilliseconds,
        end: table.endMilliseconds,
        speaker: table.speaker,
        characters: sql<number>`length(${table.text})`,
      })
      .from(table)
      .where(segmentsFrom(latest, from))
      .orderBy(asc(table.index))
      .limit(limit)
      .all();
    for (const { start, end, speaker, characters } of rows) {
      outline.startMilliseconds.push(start);
      outline.endMilliseconds.push(end);
      outline.speakers.push(latest.shownSpeaker(speaker));
      outline.characters.push(characters);
    }
    if (rows.length < limit) return outline;
    await yieldToEventLoop();
  }
}

/** Returns the numbers of a transcript's speakers, in order of first appearance. */
export function speakersOf(store: Store, recordingId: string): readonly number[] {
  const { state } = latestRevision(store, recordingId);
  if (state !== null) return state.order;
  return store
    .selectDistinct({ speaker: tables.segments.speaker })
    .from(tables.segments)
    .where(eq(tables.segments.recordingId, recordingId))
    .orderBy(tables.segments.speaker)
    .all()
    .map((row) => row.speaker);
}
