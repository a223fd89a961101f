import { and, asc, count, eq, inArray, min, type SQL, sql } from "drizzle-orm";
import { tables, type Writer } from "../database/index.ts";
import { renewSearchable, updateSearchable } from "../search/index.ts";
import { type CorrectedState, segmentPlaceholders } from "../segments/index.ts";
import type { CorrectedSegment } from "./changes.ts";

const { correctedSegments, segments: recognized } = tables;

/** A segment with its position, and the revision that changed it last. */
export type PlacedSegment = CorrectedSegment & { readonly index: number; readonly revision: number };

/** A place in the order of segments, which stays the same in all revisions. */
export type Place = Pick<CorrectedSegment, "id" | "startMilliseconds">;

/** The speaker of a segment. */
export type SegmentSpeaker = Pick<CorrectedSegment, "id" | "speaker" | "isSpeakerUncertain">;

/** Number of ids in one statement. */
const IDS_AT_ONCE = 500;

const columns = {
  id: correctedSegments.id,
  startMilliseconds: correctedSegments.startMilliseconds,
  endMilliseconds: correctedSegments.endMilliseconds,
  speaker: correctedSegments.speaker,
  text: correctedSegments.text,
  words: correctedSegments.words,
  isSpeakerUncertain: correctedSegments.isSpeakerUncertain,
};

const speakerColumns = {
  id: correctedSegments.id,
  speaker: correctedSegments.speaker,
  isSpeakerUncertain: correctedSegments.isSpeakerUncertain,
};

/** Returns the segments of a transcript as they were recognized. */
export function recognizedSegments(writer: Pick<Writer, "select">, recordingId: string): CorrectedSegment[] {
  const { index, startMilliseconds, endMilliseconds, speaker, text, words, isSpeakerUncertain } = recognized;
  return writer
    .select({ id: index, startMilliseconds, endMilliseconds, speaker, text, words, isSpeakerUncertain })
    .from(recognized)
    .where(eq(recognized.recordingId, recordingId))
    .orderBy(asc(index))
    .all();
}

/** The latest segments of one corrected transcript, within a transaction. */
export class CorrectedRows {
  readonly #writer: Writer;
  readonly #recordingId: string;
  readonly #isOfRecording: SQL;
  /** Statements that run for thousands of segments, prepared when they are needed. */
  #found: ReturnType<typeof prepareFind> | null = null;
  #updated: ReturnType<typeof prepareUpdate> | null = null;

  constructor(writer: Writer, recordingId: string) {
    this.#writer = writer;
    this.#recordingId = recordingId;
    this.#isOfRecording = eq(correctedSegments.recordingId, recordingId);
  }

  /** Copies the recognized segments before the first correction. */
  copyRecognized(): void {
    this.#writer.run(
      sql`INSERT INTO corrected_segments
        (recording_id, id, "index", start_milliseconds, end_milliseconds, speaker, text, words, revision, is_speaker_uncertain)
        SELECT recording_id, "index", "index", start_milliseconds, end_milliseconds, speaker, text, words, 0, is_speaker_uncertain
        FROM segments WHERE recording_id = ${this.#recordingId}`,
    );
  }

  /** Removes all segments, which are still as recognized. */
  removeAll(): void {
    this.#writer.delete(correctedSegments).where(this.#isOfRecording).run();
  }

  find(id: number): PlacedSegment | null {
    this.#found ??= prepareFind(this.#writer, this.#isOfRecording);
    return this.#found.get({ id }) ?? null;
  }

  all(): CorrectedSegment[] {
    return this.#writer
      .select(columns)
      .from(correctedSegments)
      .where(this.#isOfRecording)
      .orderBy(asc(correctedSegments.index))
      .all();
  }

  /** Returns up to `limit` segments behind a place; null: from the first. */
  after(place: Place | null, limit: number): PlacedSegment[] {
    const { startMilliseconds } = correctedSegments;
    const key = sql`(${startMilliseconds}, ${correctedSegments.id})`;
    const isBehind = place === null ? sql`true` : sql`${key} > (${place.startMilliseconds}, ${place.id})`;
    return this.#placed(isBehind, [asc(startMilliseconds), asc(correctedSegments.id)])
      .limit(limit)
      .all();
  }

  /** Returns the segments of a speaker, in order. */
  segmentsOf(speaker: number): SegmentSpeaker[] {
    return this.#writer
      .select(speakerColumns)
      .from(correctedSegments)
      .where(and(this.#isOfRecording, eq(correctedSegments.speaker, speaker)))
      .orderBy(asc(correctedSegments.index))
      .all();
  }

  count(): number {
    return this.#writer.select({ rows: count() }).from(correctedSegments).where(this.#isOfRecording).get()?.rows ?? 0;
  }

  /** Returns the bytes of all segments in their stored form. */
  size(): number {
    const { text, words } = correctedSegments;
    const bytes = sql<number>`coalesce(sum(octet_length(${text}) + octet_length(${words})), 0)`;
    return this.#writer.select({ bytes }).from(correctedSegments).where(this.#isOfRecording).get()?.bytes ?? 0;
  }

  /** Returns the facts about a transcript that has just been copied. */
  firstState(): CorrectedState {
    const order = this.speakers();
    return { order, nextSpeaker: Math.max(-1, ...order) + 1, nextSegment: this.count(), trimmed: 0, size: this.size() };
  }

  /** Returns the speakers in order of first appearance. */
  speakers(): number[] {
    const first = min(correctedSegments.index);
    return this.#writer
      .select({ speaker: correctedSegments.speaker, first })
      .from(correctedSegments)
      .where(this.#isOfRecording)
      .groupBy(correctedSegments.speaker)
      .all()
      .toSorted((a, b) => (a.first ?? 0) - (b.first ?? 0))
      .map(({ speaker }) => speaker);
  }

  /** Assigns segments to a speaker, who is uncertain or not. */
  setSpeaker(ids: readonly number[], speaker: number, isSpeakerUncertain: boolean, revision: number): void {
    const values = { speaker, isSpeakerUncertain, revision };
    for (const some of batches(ids)) {
      this.#writer.update(correctedSegments).set(values).where(this.#isOneOf(some)).run();
    }
  }

  /** Returns the speakers of those segments that exist. */
  speakersOf(ids: readonly number[]): SegmentSpeaker[] {
    return batches(ids).flatMap((some) =>
      this.#writer.select(speakerColumns).from(correctedSegments).where(this.#isOneOf(some)).all(),
    );
  }

  /** Replaces the content of a segment. */
  update(segment: CorrectedSegment, revision: number): void {
    this.#updated ??= prepareUpdate(this.#writer, this.#isOfRecording);
    this.#updated.run({ ...segment, revision });
  }

  remove(id: number): void {
    this.#writer
      .delete(correctedSegments)
      .where(this.#isOneOf([id]))
      .run();
  }

  /** Adds a segment. Its index is a hint until `renumber`. */
  insert(segment: CorrectedSegment, index: number, revision: number): void {
    const row = { ...segment, recordingId: this.#recordingId, index, revision };
    this.#writer.insert(correctedSegments).values(row).run();
  }

  /** Replaces all segments, in some tenths of a second for 20,000. The search index receives them later, in batches. */
  replaceAll(segments: readonly CorrectedSegment[], revision: number): void {
    this.removeAll();
    const insert = this.#writer
      .insert(correctedSegments)
      .values({ recordingId: this.#recordingId, revision, id: sql.placeholder("id"), ...segmentPlaceholders })
      .prepare();
    for (const [index, segment] of segments.entries()) insert.run({ ...segment, index });
    renewSearchable(this.#writer, this.#recordingId);
  }

  /** Updates the search index. @param texts the latest texts of segments by id; null for one that is gone */
  updateSearch(texts: ReadonlyMap<number, string | null>): void {
    updateSearchable(this.#writer, this.#recordingId, texts);
  }

  /** Sets the indexes after segments were added or removed, in some tens of milliseconds for 20,000 segments. */
  renumber(): void {
    this.#writer.run(sql`
      WITH ordered AS (
        SELECT id, row_number() OVER (ORDER BY start_milliseconds, id) - 1 AS place
        FROM corrected_segments WHERE recording_id = ${this.#recordingId}
      )
      UPDATE corrected_segments SET "index" = ordered.place FROM ordered
      WHERE corrected_segments.recording_id = ${this.#recordingId} AND corrected_segments.id = ordered.id
        AND corrected_segments."index" <> ordered.place`);
  }

  #isOneOf(ids: readonly number[]) {
    return and(this.#isOfRecording, inArray(correctedSegments.id, [...ids]));
  }

  #placed(condition: SQL, order = [asc(correctedSegments.index)]) {
    return this.#writer
      .select({ ...columns, index: correctedSegments.index, revision: correctedSegments.revision })
      .from(correctedSegments)
      .where(and(this.#isOfRecording, condition))
      .orderBy(...order);
  }
}

function prepareFind(writer: Writer, isOfRecording: SQL) {
  return writer
    .select({ ...columns, index: correctedSegments.index, revision: correctedSegments.revision })
    .from(correctedSegments)
    .where(and(isOfRecording, eq(correctedSegments.id, sql.placeholder("id"))))
    .prepare();
}

function prepareUpdate(writer: Writer, isOfRecording: SQL) {
  const given = (name: keyof PlacedSegment) => sql`${sql.placeholder(name)}`;
  return writer
    .update(correctedSegments)
    .set({
      startMilliseconds: given("startMilliseconds"),
      endMilliseconds: given("endMilliseconds"),
      speaker: given("speaker"),
      text: given("text"),
      words: given("words"),
      isSpeakerUncertain: given("isSpeakerUncertain"),
      revision: given("revision"),
    })
    .where(and(isOfRecording, eq(correctedSegments.id, sql.placeholder("id"))))
    .prepare();
}

function batches(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_AT_ONCE) }, (_, batch) =>
    ids.slice(batch * IDS_AT_ONCE, (batch + 1) * IDS_AT_ONCE),
  );
}
