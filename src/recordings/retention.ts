import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { DataDirectory } from "../storage/index.ts";
import type { Recording } from "./recording.ts";
import { isRecordingId } from "./recording-ids.ts";
import type { Recordings } from "./recordings.ts";
import { isOpen } from "./states.ts";

export interface RetentionRules {
  /** Days that the recording itself is kept after its end. */
  readonly audioDays: number;
  /** Days that the record and its text are kept; 0: for ever. */
  readonly completedDays: number;
}

const day = 86_400_000;
/** Records that are looked at in one go: a few milliseconds' work. */
const looksAtOnce = 50;

/**
 * Removes what has been kept long enough, and the files of recordings that are gone: who removed those may have been stopped.
 * A recording under an operator's hold stays whole. Call it in the process that enters recordings, or while none does.
 */
export async function applyRetention(
  recordings: Recordings,
  dataDirectory: DataDirectory,
  rules: RetentionRules,
  now: number,
): Promise<void> {
  for (const [count, id] of (await readdir(dataDirectory.uploads)).entries()) {
    if (count % looksAtOnce === 0) await othersTurn();
    const recording = recordings.get(id);
    // Another name than an id is that of a file which is being fetched.
    const goes = recording === null ? isRecordingId(id) : isPast(recording, now - rules.audioDays * day);
    if (goes) await dataDirectory.removeRecordingAside(id);
  }
  for (const id of await readdir(dataDirectory.listening)) {
    const isLeft = isRecordingId(id) && !existsSync(dataDirectory.uploadPath(id));
    if (isLeft) await dataDirectory.removeListeningAside(id);
  }
  if (rules.completedDays === 0) return;
  const createdBefore = now - rules.completedDays * day;
  const batch = 500;
  for (let beforeId: string | undefined; ; ) {
    const old = recordings.list({ statuses: ["completed", "failed"], createdBefore, beforeId }, batch);
    const deleted: string[] = [];
    for (const recording of old) {
      if (recording.updatedAt >= createdBefore || !recordings.delete(recording.id)) continue;
      await dataDirectory.removeRecordingAside(recording.id);
      deleted.push(recording.id);
    }
    await recordings.rows.removeDeleted(...deleted);
    beforeId = old.at(-1)?.id;
    if (old.length < batch) return;
    await othersTurn();
  }
}

function isPast({ status, heldAt, updatedAt }: Recording, endedBefore: number): boolean {
  return !isOpen(status) && heldAt === null && updatedAt <= endedBefore;
}
