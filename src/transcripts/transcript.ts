import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, eq, gte, sql } from "drizzle-orm";
import { type Recording, type Store, tables } from "../database/index.ts";
import { latestRevision, type Outline, type SegmentWithWords, type StoredSegment } from "../segments/index.ts";
import { correct } from "./correct.ts";
import type { Corrected, Correcting, Correction, Edit } from "./correction.ts";
import { type Comparison, compareRevision, type EarlierState, readEarlierState } from "./earlier-states.ts";
import { changesAfter, type Editing, type LaterChanges, listRevisions, type Revision } from "./revisions.ts";
import { readSpeakerNames, renameSpeakers } from "./speakers.ts";

/** Number of segments that a page reads at once: a page may end after any of them, and each may take a megabyte. */
const PAGE_ROWS = 20;
const ROWS_AT_ONCE = 500;
const OUTLINE_ROWS_AT_ONCE = 2000;
/**
 * A corrected transcript is read at once, because a person may change it meanwhile: 18 hours take 25 ms and 15 MB, and
 * their outline 10 ms.
 */
const ALL_ROWS = 2 ** 21;

/** The place of a recording's latest segments. */
interface Latest {
  /** The recognized segments until somebody corrects them. */
  readonly table: typeof tables.segments | typeof tables.correctedSegments;
  readonly isCorrected: boolean;
  /** Returns a segment with its speaker's position in the order of first appearance instead of the number. */
  readonly shown: <S extends { readonly speaker: number }>(segment: S) => S;
}

/** A segment whose words are still JSON. */
type Row = StoredSegment & { readonly words: string };

/** A text of a recording with times and speakers, as exports and answers read it. */
export interface RecordingText {
  readonly recording: Recording;
  /** ISO 639; null if no speech was found and none was given. */
  readonly language: string | null;
  /** Returns all segments with their words, in order. */
  allSegments(): Generator<SegmentWithWords>;
  /** Returns the numbers of all speakers, in order of first appearance. */
  speakerNumbers(): readonly number[];
  /** Returns the names of the speakers that have one, by their positions in that order. */
  speakerNames(): Map<number, string>;
}

/**
 * The latest transcript of a recording, with the corrections of people; it is empty unless the recording has completed.
 * It reads on demand. Surfaces get it from the library, which checks who may see it. Speakers are positions in the order
 * of first appearance, unless a method says otherwise.
 */
export class Transcript implements RecordingText {
  readonly recording: Recording;
  readonly #store: Store;

  constructor(store: Store, recording: Recording) {
    this.#store = store;
    this.recording = recording;
  }

  get language(): string | null {
    return this.recording.language;
  }

  /** Number of the latest revision; 0 if nobody has corrected the transcript. */
  get revision(): number {
    return latestRevision(this.#store, this.recording.id).revision;
  }

  /** Returns up to `limit` segments from an index on, in order. */
  segments(from: number, limit: number): StoredSegment[] {
    const latest = this.#latest();
    const { table, shown } = latest;
    const isWanted = this.#isFrom(latest, from);
    const rows = this.#store
      .select(columnsOf(latest))
      .from(table)
      .where(isWanted)
      .orderBy(asc(table.index))
      .limit(limit);
    return rows.all().map(shown);
  }

  /** Returns the segment with an id, such as a search finds; null if it is joined to another one, or removed. */
  segment(id: number): StoredSegment | null {
    const latest = this.#latest();
    const { table } = latest;
    const columns = columnsOf(latest);
    const isIt = and(eq(table.recordingId, this.recording.id), eq(columns.id, id));
    const segment = this.#store.select(columns).from(table).where(isIt).get();
    return segment === undefined ? null : latest.shown(segment);
  }

  /** Yields the segments from an index on, in order, for a page that may end after any of them. */
  *segmentsFrom(index: number): Generator<StoredSegment> {
    for (let from = index; ; from += PAGE_ROWS) {
      const rows = this.segments(from, PAGE_ROWS);
      yield* rows;
      if (rows.length < PAGE_ROWS) return;
    }
  }

  /** Yields the segments with their words from an index on, likewise. */
  wordsFrom(index: number): Generator<SegmentWithWords> {
    return this.#onDemand(this.#latest(), index, PAGE_ROWS);
  }

  /** Returns all segments with their words, in order. Recognized ones are read on demand. */
  allSegments(): Generator<SegmentWithWords> {
    const latest = this.#latest();
    return latest.isCorrected
      ? parsed(latest, this.#readWithWords(latest, 0, ALL_ROWS))
      : this.#onDemand(latest, 0, ROWS_AT_ONCE);
  }

  /**
   * Returns the speakers and text lengths of all segments. Recognized ones are read in batches, since transcripts of
   * days have tens of thousands.
   */
  async outline(): Promise<Outline> {
    const latest = this.#latest();
    const { table } = latest;
    const { startMilliseconds, endMilliseconds, speaker, text } = table;
    const columns = { startMilliseconds, endMilliseconds, speaker, characters: sql<number>`length(${text})` };
    const outline: Outline = { startMilliseconds: [], endMilliseconds: [], speakers: [], characters: [] };
    const limit = latest.isCorrected ? ALL_ROWS : OUTLINE_ROWS_AT_ONCE;
    for (let from = 0; ; from += limit) {
      const isWanted = this.#isFrom(latest, from);
      const rows = this.#store.select(columns).from(table).where(isWanted).orderBy(asc(table.index)).limit(limit).all();
      for (const row of rows) {
        outline.startMilliseconds.push(row.startMilliseconds);
        outline.endMilliseconds.push(row.endMilliseconds);
        outline.speakers.push(latest.shown(row).speaker);
        outline.characters.push(row.characters);
      }
      if (rows.length < limit) return outline;
      await yieldToEventLoop();
    }
  }

  /** Returns the numbers of all speakers, which never change, in order of first appearance. */
  speakerNumbers(): readonly number[] {
    const { state } = latestRevision(this.#store, this.recording.id);
    if (state !== null) return state.order;
    const { speaker, recordingId } = tables.segments;
    return this.#store
      .selectDistinct({ speaker })
      .from(tables.segments)
      .where(eq(recordingId, this.recording.id))
      .orderBy(speaker)
      .all()
      .map((row) => row.speaker);
  }

  /** Returns the names of the speakers that have one, by their numbers. */
  namesByNumber(): ReadonlyMap<number, string> {
    return readSpeakerNames(this.#store, this.recording.id);
  }

  /** Returns the names of the speakers that have one. */
  speakerNames(): Map<number, string> {
    const names = this.namesByNumber();
    return new Map(
      this.speakerNumbers().flatMap((number, position) => {
        const name = names.get(number);
        return name === undefined ? [] : [[position, name] as const];
      }),
    );
  }

  /** Names speakers, given by their numbers; an empty name removes one. */
  rename(names: ReadonlyMap<number, string>): void {
    renameSpeakers(this.#store, this.recording.id, names);
  }

  /**
   * Corrects the transcript. Speakers are given by their numbers.
   * @returns null if the recording has been deleted
   * @throws {CorrectionError} when the correction does not fit the transcript
   */
  correct(correction: Correction | Edit, by: Correcting): Corrected | null {
    return correct(this.#store, this.recording.id, correction, by);
  }

  /** Returns up to `limit` revisions before a number, newest first. */
  revisions(before: number | null, limit: number): Revision[] {
    return listRevisions(this.#store, this.recording.id, before, limit);
  }

  /** Returns what has changed after a revision, for a person on a page. */
  changesAfter(seen: number, by: Editing): LaterChanges {
    return changesAfter(this.#store, this.recording.id, seen, by);
  }

  /**
   * Compares the transcript after a revision, or as recognized (0), with another one. Speakers are numbers.
   * @param other null: the latest
   * @throws {CorrectionError} `no_such_revision`
   */
  compareWith(revision: number, other: number | null = null): Promise<Comparison> {
    return compareRevision(this.#store, this.recording.id, revision, other);
  }

  /**
   * Returns the transcript as it was after a revision, or as recognized (0). Speakers are numbers.
   * @throws {CorrectionError} `no_such_revision`
   */
  stateAfter(revision: number): Promise<EarlierState> {
    return readEarlierState(this.#store, this.recording.id, revision);
  }

  #latest(): Latest {
    const { revision, state } = latestRevision(this.#store, this.recording.id);
    const isCorrected = revision > 0;
    const positions = new Map(state?.order.map((number, position) => [number, position]));
    return {
      table: isCorrected ? tables.correctedSegments : tables.segments,
      isCorrected,
      shown: (segment) => ({ ...segment, speaker: positions.get(segment.speaker) ?? segment.speaker }),
    };
  }

  *#onDemand(latest: Latest, index: number, rowsAtOnce: number): Generator<SegmentWithWords> {
    for (let from = index; ; from += rowsAtOnce) {
      const rows = this.#readWithWords(latest, from, rowsAtOnce);
      yield* parsed(latest, rows);
      if (rows.length < rowsAtOnce) return;
    }
  }

  #readWithWords(latest: Latest, from: number, limit: number): Row[] {
    const { table } = latest;
    const columns = { ...columnsOf(latest), words: table.words };
    const isWanted = this.#isFrom(latest, from);
    return this.#store.select(columns).from(table).where(isWanted).orderBy(asc(table.index)).limit(limit).all();
  }

  #isFrom({ table }: Latest, index: number) {
    return and(eq(table.recordingId, this.recording.id), gte(table.index, index));
  }
}

function columnsOf({ table }: Latest) {
  const { index, startMilliseconds, endMilliseconds, speaker, text, isSpeakerUncertain } = table;
  const id = "id" in table ? table.id : index;
  return { id, index, startMilliseconds, endMilliseconds, speaker, text, isSpeakerUncertain };
}

function* parsed({ shown }: Latest, rows: readonly Row[]): Generator<SegmentWithWords> {
  for (const row of rows) yield { ...shown(row), words: JSON.parse(row.words) as SegmentWithWords["words"] };
}
