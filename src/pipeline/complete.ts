import type { PackedSegment, Recordings } from "../recordings/index.ts";
import { othersTurn } from "./others-turn.ts";

/** Rows that are written or removed in one go: some milliseconds' work, between which all else has its turn. */
const rowsAtOnce = 100;

/**
 * Completes a recording: nobody sees any of its segments before all are stored, and those of days are stored some at a
 * time. What an earlier try stored, whose server was killed, goes first.
 * @returns false when it was ended meanwhile
 */
export async function complete(
  recordings: Recordings,
  id: string,
  segments: readonly PackedSegment[],
  signal: AbortSignal,
): Promise<boolean> {
  while (recordings.rows.removeSegments(id, rowsAtOnce)) await othersTurn(signal);
  let from = 0;
  for (; segments.length - from > rowsAtOnce; from += rowsAtOnce) {
    if (!recordings.rows.addSegments(id, segments.slice(from, from + rowsAtOnce))) return false;
    await othersTurn(signal);
  }
  return recordings.complete(id, segments.slice(from));
}

/** Removes from the database what is left of the work on a recording that has ended, some rows at a time. */
export async function removeWork(recordings: Recordings, id: string): Promise<void> {
  while (recordings.rows.removeWork(id, rowsAtOnce)) await othersTurn();
}

/** The same for all whose servers were killed before it was done. */
export async function removeWorkOfEnded(recordings: Recordings): Promise<void> {
  for (const id of recordings.rows.endedWithWork()) await removeWork(recordings, id);
}
