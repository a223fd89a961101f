import { and, asc, eq, gte } from "drizzle-orm";
import { type Recording, type Store, tables } from "../database/index.ts";
import type { SegmentWithWords, StoredSegment } from "../segments/index.ts";
import { type RecordingText, Transcript } from "./transcript.ts";

/** Number of rows that are read at once: a page may end after any of them, and each may take a megabyte. */
const ROWS_AT_ONCE = 20;
/** More rows than a transcript has: 18 hours of its texts take 25 ms and 15 MB. */
const ALL_ROWS = 2 ** 21;

/** Returns the language of a translation; null for a transcript. */
export function translationLanguage(text: RecordingText): string | null {
  return text instanceof Translation ? text.language : null;
}

/**
 * The translation of a recording to English. Its segments have the speakers that the latest transcript has at their
 * times, so that names and corrections of speakers apply to it. Corrections of the transcript's words do not.
 */
export class Translation implements RecordingText {
  readonly recording: Recording;
  readonly language = "en";
  readonly #store: Store;
  readonly #transcript: Transcript;

  constructor(store: Store, recording: Recording) {
    this.recording = recording;
    this.#store = store;
    this.#transcript = new Transcript(store, recording);
  }

  /**
   * Yields the segments from an index on, in order, for a page that may end after any of them.
   * @param hasWords whether they have their words; false by default
   */
  *segmentsFrom(index: number, hasWords = false): Generator<StoredSegment & Partial<SegmentWithWords>> {
    for (const { words, ...segment } of this.#from(index)) yield hasWords ? { ...segment, words } : segment;
  }

  *#from(index: number): Generator<SegmentWithWords> {
    const speakerOf = this.#speakers();
    for (let from = index; ; from += ROWS_AT_ONCE) {
      const rows = this.#rows(from);
      for (const row of rows) {
        const { recordingId: _, ...segment } = row;
        const words = JSON.parse(row.words) as SegmentWithWords["words"];
        yield { ...segment, id: row.index, speaker: speakerOf(row), isSpeakerUncertain: false, words };
      }
      if (rows.length < ROWS_AT_ONCE) return;
    }
  }

  allSegments(): Generator<SegmentWithWords> {
    return this.#from(0);
  }

  speakerNumbers(): readonly number[] {
    return this.#transcript.speakerNumbers();
  }

  speakerNames(): Map<number, string> {
    return this.#transcript.speakerNames();
  }

  #rows(from: number) {
    const { translatedSegments: table } = tables;
    const isWanted = and(eq(table.recordingId, this.recording.id), gte(table.index, from));
    return this.#store.select().from(table).where(isWanted).orderBy(asc(table.index)).limit(ROWS_AT_ONCE).all();
  }

  /** Returns a function that finds the speaker of one translated segment after the other. */
  #speakers(): (row: typeof tables.translatedSegments.$inferSelect) => number {
    const spoken = this.#transcript.segments(0, ALL_ROWS);
    const positions = new Map(this.speakerNumbers().map((number, position) => [number, position]));
    let next = 0;
    let near: StoredSegment[] = [];
    let last = 0;
    return (row) => {
      for (; ; next++) {
        const segment = spoken[next];
        if (segment === undefined || segment.startMilliseconds >= row.endMilliseconds) break;
        near.push(segment);
      }
      near = near.filter((segment) => segment.endMilliseconds > row.startMilliseconds);
      const recognized = positions.get(row.speaker);
      last = speakerAt(row, near, recognized) ?? recognized ?? last;
      return last;
    };
  }
}

type Span = Pick<StoredSegment, "startMilliseconds" | "endMilliseconds">;

/**
 * Returns the speaker who speaks most of the time of a span; undefined if nobody does.
 * @param preferred the one to return where several speak as long, such as two people at once
 */
function speakerAt(
  { startMilliseconds, endMilliseconds }: Span,
  near: readonly StoredSegment[],
  preferred: number | undefined,
): number | undefined {
  const spoken = new Map<number, number>();
  for (const { speaker, ...own } of near) {
    const from = Math.max(startMilliseconds, own.startMilliseconds);
    const shared = Math.max(0, Math.min(endMilliseconds, own.endMilliseconds) - from);
    spoken.set(speaker, (spoken.get(speaker) ?? 0) + shared);
  }
  const longest = Math.max(...spoken.values());
  const speakers = [...spoken].filter(([, each]) => each === longest).map(([speaker]) => speaker);
  return speakers.find((speaker) => speaker === preferred) ?? speakers[0];
}
