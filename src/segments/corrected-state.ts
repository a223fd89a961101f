import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import { type Store, tables } from "../database/index.ts";
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

/** Returns the number of the latest revision, which is 0 if nobody has corrected the transcript, and its facts. */
export function latestRevision(reader: Pick<Store, "select">, recordingId: string) {
  const { id, revision, correctedState } = tables.recordings;
  const row = reader.select({ revision, correctedState }).from(tables.recordings).where(eq(id, recordingId)).get();
  return { revision: row?.revision ?? 0, state: parseState(row?.correctedState ?? null) };
}
