import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Store } from "../database/index.ts";
import type { PackedSegment } from "../segments/index.ts";
import { respelling } from "../transcripts/index.ts";
import { Matcher } from "./matcher.ts";
import { listReplacements } from "./replacements.ts";

/** Number of segments that are searched before others may run: a few milliseconds of work. */
const SEGMENTS_AT_ONCE = 100;

/**
 * Returns the segments of a transcript that an account's replacements change. The list of this moment applies to the
 * whole transcript.
 * @throws the signal's reason once it is aborted
 */
export async function respellSegments(
  store: Store,
  accountId: string,
  segments: readonly PackedSegment[],
  signal: AbortSignal,
): Promise<respelling.RespelledSegment[]> {
  const matcher = new Matcher(listReplacements(store, accountId));
  if (matcher.isEmpty) return [];
  const respelled: respelling.RespelledSegment[] = [];
  for (const [count, segment] of segments.entries()) {
    if (count % SEGMENTS_AT_ONCE === 0) {
      await yieldToEventLoop();
      signal.throwIfAborted();
    }
    const written = respell(segment, matcher);
    if (written !== null) respelled.push(written);
  }
  return respelled;
}

/** Returns a single segment if an account's replacements of this moment change it, else null. */
export function respellSegment(
  store: Store,
  accountId: string,
  segment: PackedSegment,
): respelling.RespelledSegment | null {
  return respell(segment, new Matcher(listReplacements(store, accountId)));
}

function respell(segment: PackedSegment, matcher: Matcher): respelling.RespelledSegment | null {
  const places = matcher.placesIn(segment.text);
  return places.length === 0 ? null : respelling.respellSegment(segment, places);
}
