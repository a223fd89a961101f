import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type DataDirectory, isRecordingId } from "../storage/index.ts";
import type { Recording } from "./recording-rows.ts";
import type { Recordings } from "./recordings.ts";
import { ENDED_STATES, isOpen } from "./states.ts";

interface RetentionRules {
  /** Days for which the recording's audio is stored after its end. */
  readonly audioDays: number;
  /** Days for which the record and its text are stored; 0 for ever. */
  readonly completedDays: number;
}

const DAY = 86_400_000;
/** Number of records checked before yielding to the event loop, which takes a few milliseconds. */
const CHECKS_AT_ONCE = 50;

/**
 * Removes recordings whose retention period is over, and files of recordings without a record; an interrupted removal
 * may have left them. A recording under an operator's hold is not touched. Run this in the process that creates
 * recordings, or while no process creates any.
 */
export async function applyRetention(
  recordings: Recordings,
  dataDirectory: DataDirectory,
  rules: RetentionRules,
  now: number,
): Promise<void> {
  for (const [count, id] of (await readdir(dataDirectory.uploads)).entries()) {
    if (count % CHECKS_AT_ONCE === 0) await yieldToEventLoop();
    const recording = recordings.get(id);
    // A file whose name is not an id is a download in progress.
    const isOver = recording === null ? isRecordingId(id) : isPast(recording, now - rules.audioDays * DAY);
    if (isOver) await dataDirectory.filesOf(id).removeAll();
  }
  for (const id of await readdir(dataDirectory.playback)) {
    const isOrphan = isRecordingId(id) && !existsSync(dataDirectory.filesOf(id).upload);
    if (isOrphan) await dataDirectory.filesOf(id).removePlayback();
  }
  if (rules.completedDays === 0) return;
  const createdBefore = now - rules.completedDays * DAY;
  const batch = 500;
  for (let beforeId: string | undefined; ; ) {
    const old = recordings.list({ statuses: ENDED_STATES, createdBefore, beforeId, includesTransient: true }, batch);
    const deleted: string[] = [];
    for (const recording of old) {
      if (recording.updatedAt >= createdBefore || !recordings.delete(recording.id)) continue;
      await dataDirectory.filesOf(recording.id).removeAll();
      deleted.push(recording.id);
    }
    await recordings.rows.removeDeleted(...deleted);
    beforeId = old.at(-1)?.id;
    if (old.length < batch) return;
    await yieldToEventLoop();
  }
}

function isPast({ status, heldAt, updatedAt }: Recording, endedBefore: number): boolean {
  return !isOpen(status) && heldAt === null && updatedAt <= endedBefore;
}
