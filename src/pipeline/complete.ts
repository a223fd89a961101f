import type { Recordings } from "../recordings/index.ts";
import type { respelling } from "../transcripts/index.ts";
import { storeSpeakerVoices } from "../voices/index.ts";
import { yieldToEventLoop } from "./concurrency.ts";
import type { FoundTranscript } from "./transcript.ts";

/** Number of rows written or removed before yielding to the event loop: some milliseconds of work. */
const ROWS_PER_BATCH = 100;

/**
 * Completes a recording, and stores the voices of its speakers and its translation with it. Its segments are stored in batches, because a
 * recording can be days long, and become visible only when all are stored. First removes segments that an earlier
 * attempt stored before its server was killed.
 * @param respelled the segments that the account's replacements change
 * @returns false if the recording was ended in the meantime
 */
export async function complete(
  recordings: Recordings,
  id: string,
  { segments, translation, voices }: FoundTranscript,
  signal: AbortSignal,
  respelled: readonly respelling.RespelledSegment[] = [],
): Promise<boolean> {
  while (recordings.rows.removeSegments(id, ROWS_PER_BATCH)) await yieldToEventLoop(signal);
  for (let at = 0; at < translation.length; at += ROWS_PER_BATCH) {
    if (!recordings.rows.addTranslation(id, translation.slice(at, at + ROWS_PER_BATCH))) return false;
    await yieldToEventLoop(signal);
  }
  let from = 0;
  for (; segments.length - from > ROWS_PER_BATCH; from += ROWS_PER_BATCH) {
    if (!recordings.rows.addSegments(id, segments.slice(from, from + ROWS_PER_BATCH))) return false;
    await yieldToEventLoop(signal);
  }
  return recordings.complete(id, segments.slice(from), (writer) => storeSpeakerVoices(writer, id, voices), respelled);
}

/** Removes the step results of a recording that has ended from the database, in batches. */
export async function removeWork(recordings: Recordings, id: string): Promise<void> {
  while (recordings.rows.removeWork(id, ROWS_PER_BATCH)) await yieldToEventLoop();
}

/** Removes the step results of all ended recordings whose server was killed before it removed them. */
export async function removeWorkOfEnded(recordings: Recordings): Promise<void> {
  for (const id of recordings.rows.endedWithWork()) await removeWork(recordings, id);
}
