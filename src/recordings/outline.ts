import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, eq, gte, sql } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";

/** The speakers and text lengths of a transcript's segments; the position in each array is the segment's index. */
export interface Outline {
  readonly startMilliseconds: number[];
  readonly endMilliseconds: number[];
  /** Zero-based in order of first appearance. */
  readonly speakers: number[];
  /** Lengths of the texts. */
  readonly characters: number[];
}

const ROWS_AT_ONCE = 2000;

/** Reads an outline in batches, since transcripts of days have tens of thousands of segments. */
export async function readOutline(store: Store, recordingId: string): Promise<Outline> {
  const { segments } = tables;
  const outline: Outline = { startMilliseconds: [], endMilliseconds: [], speakers: [], characters: [] };
  for (let from = 0; ; from += ROWS_AT_ONCE) {
    const rows = store
      .select({
        start: segments.startMilliseconds,
        end: segments.endMilliseconds,
        speaker: segments.speaker,
        characters: sql<number>`length(${segments.text})`,
      })
      .from(segments)
      .where(and(eq(segments.recordingId, recordingId), gte(segments.index, from)))
      .orderBy(asc(segments.index))
      .limit(ROWS_AT_ONCE)
      .all();
    for (const { start, end, speaker, characters } of rows) {
      outline.startMilliseconds.push(start);
      outline.endMilliseconds.push(end);
      outline.speakers.push(speaker);
      outline.characters.push(characters);
    }
    if (rows.length < ROWS_AT_ONCE) return outline;
    await yieldToEventLoop();
  }
}
