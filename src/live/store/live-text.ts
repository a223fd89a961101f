import { eq } from "drizzle-orm";
import { type Store, tables } from "../../database/index.ts";
import { readSegments } from "./live-rows.ts";
import { parseNames } from "./stored-options.ts";
import type { TurnSegment } from "./stored-segments.ts";

/** The words of a live session, as they were recognized while it ran. */
export interface LiveText {
  readonly segments: readonly TurnSegment[];
  /** Names of speakers by their labels. */
  readonly names: ReadonlyMap<string, string>;
}

/** Returns whether a recording was a live session. */
export function wasLive(store: Store, recordingId: string): boolean {
  const { id, recordingId: recording } = tables.liveSessions;
  return store.select({ id }).from(tables.liveSessions).where(eq(recording, recordingId)).get() !== undefined;
}

/** Returns the words of the live session that has become a recording; null for any other recording. */
export function liveTextOf(store: Store, recordingId: string): LiveText | null {
  const { id, speakerNames, recordingId: recording } = tables.liveSessions;
  const row = store.select({ id, speakerNames }).from(tables.liveSessions).where(eq(recording, recordingId)).get();
  if (row === undefined) return null;
  return { segments: readSegments(store, row.id, 0), names: parseNames(row.speakerNames) };
}
