import { readdir } from "node:fs/promises";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Recording } from "../database/index.ts";
import { ENDED_STATES, isOpen } from "../recordings/index.ts";
import { isRecordingId } from "../storage/index.ts";
import { finishRemoval, type RemovalServices } from "./removal.ts";

interface RetentionRules {
  /** Days for which the recording's audio is stored after its end. */
  readonly audioDays: number;
  /** Days for which the record and its text are stored after its end; 0 for ever. */
  readonly completedDays: number;
}

const DAY = 86_400_000;
/** Number of records checked before yielding to the event loop, which takes a few milliseconds. */
const CHECKS_AT_ONCE = 50;
/** Number of records that are read, and removed, at once. */
const RECORDS_AT_ONCE = 500;

interface RetentionServices extends RemovalServices {
  /** Waits for creates that have begun; see Library. Only a server has any. */
  readonly settled?: () => Promise<void>;
}

/**
 * Removes recordings whose retention period is over, and files of recordings without a record; an interrupted removal
 * may have left them. A recording under an operator's hold is not touched. Run this in the process that creates
 * recordings, or while no process creates any.
 */
export async function applyRetention(services: RetentionServices, rules: RetentionRules, now: number): Promise<void> {
  if (rules.completedDays > 0) await removeOldRecordings(services, now - rules.completedDays * DAY);
  // Afterwards, because it fails during an outage of the store of audio.
  await removeOldFiles(services, now - rules.audioDays * DAY);
}

async function removeOldFiles(
  { recordings, dataDirectory, settled = async () => {} }: RetentionServices,
  endedBefore: number,
): Promise<void> {
  const withAudio = await dataDirectory.audio.list();
  // Now each of them has its record, unless it will never have one.
  await settled();
  for (const [count, id] of withAudio.entries()) {
    if (count % CHECKS_AT_ONCE === 0) await yieldToEventLoop();
    const recording = recordings.get(id);
    const isOver = recording === null || (recording.heldAt === null && endedAtMost(recording, endedBefore));
    const rerun = isOver ? recordings.reruns.of(id) : null;
    // Like the audio of any recording that is processed, that of a rerun is needed until its end.
    if (isOver && (rerun === null || !isOpen(rerun.status))) await dataDirectory.removeFiles(id);
  }
  const listed = new Set(withAudio);
  for (const id of await readdir(dataDirectory.playback)) {
    // Only for few of them the store is asked again: their audio may be new.
    const isOrphan = isRecordingId(id) && !listed.has(id) && !(await dataDirectory.audio.has(id));
    if (isOrphan) await dataDirectory.filesOf(id).removePlayback();
  }
}

async function removeOldRecordings(services: RemovalServices, endedBefore: number): Promise<void> {
  const { recordings } = services;
  // No recording ends before it is created.
  const filter = { statuses: ENDED_STATES, createdBefore: endedBefore, includesTransient: true };
  for (let beforeId: string | undefined; ; ) {
    const old = recordings.list({ ...filter, beforeId }, RECORDS_AT_ONCE);
    const deleted = old.filter((recording) => endedAtMost(recording, endedBefore) && recordings.delete(recording.id));
    await finishRemoval(
      services,
      deleted.map(({ id }) => id),
    );
    beforeId = old.at(-1)?.id;
    if (old.length < RECORDS_AT_ONCE) return;
    await yieldToEventLoop();
  }
}

function endedAtMost({ endedAt }: Recording, time: number): boolean {
  return endedAt !== null && endedAt <= time;
}
