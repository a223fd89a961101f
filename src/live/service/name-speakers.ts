import { eq } from "drizzle-orm";
import { type Recording, type Store, tables } from "../../database/index.ts";
import { sharedSeconds } from "../../timeline/index.ts";
import { Transcript } from "../../transcripts/index.ts";
import { liveTextOf } from "../store/index.ts";

/** Share of the time of a recording's speaker that a live speaker must have, of the time that any live speaker has. */
const MIN_SHARE = 0.5;

/**
 * Gives the speakers of a completed recording the names that a client gave to those of its live session. Each name goes to
 * the speaker who speaks at the same times. Names that people have given since stay.
 */
export function nameSpeakers(store: Store, recordingId: string): void {
  const live = liveTextOf(store, recordingId);
  if (live === null || live.names.size === 0) return;
  const recording = store.select().from(tables.recordings).where(eq(tables.recordings.id, recordingId)).get();
  if (recording === undefined || recording.deletedAt !== null) return;
  const transcript = new Transcript(store, recording satisfies Recording);
  const shared = sharedTimes(transcript.segments(0, Number.MAX_SAFE_INTEGER), live.segments);
  const known = transcript.namesByNumber();
  const named = new Map<number, string>();
  for (const { speaker, label } of shared) {
    const name = live.names.get(label);
    if (name === undefined || known.has(speaker) || named.has(speaker)) continue;
    if ([...named.values()].includes(name)) continue;
    named.set(speaker, name);
  }
  if (named.size > 0) transcript.rename(named);
}

interface TimedSegment {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly speaker: number;
}

interface LabelledSpan {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly speaker: string | null;
}

/** Returns pairs of a recording's speaker and a live one who speak at the same times, the longest common time first. */
function sharedTimes(segments: readonly TimedSegment[], live: readonly LabelledSpan[]) {
  const times = new Map<number, Map<string, number>>();
  let first = 0;
  for (const { startMilliseconds, endMilliseconds, speaker } of segments) {
    const span = { startSeconds: startMilliseconds / 1000, endSeconds: endMilliseconds / 1000 };
    while ((live[first]?.endSeconds ?? Number.POSITIVE_INFINITY) <= span.startSeconds) first += 1;
    const ofSpeaker = times.get(speaker) ?? new Map<string, number>();
    times.set(speaker, ofSpeaker);
    for (let at = first; at < live.length; at++) {
      const other = live[at];
      if (other === undefined || other.startSeconds >= span.endSeconds) break;
      if (other.speaker === null) continue;
      ofSpeaker.set(other.speaker, (ofSpeaker.get(other.speaker) ?? 0) + sharedSeconds(span, other));
    }
  }
  return [...times]
    .flatMap(([speaker, ofSpeaker]) => {
      const total = [...ofSpeaker.values()].reduce((sum, seconds) => sum + seconds, 0);
      return [...ofSpeaker].map(([label, seconds]) => ({ speaker, label, seconds, share: seconds / total }));
    })
    .filter(({ seconds, share }) => seconds > 0 && share >= MIN_SHARE)
    .sort((a, b) => b.seconds - a.seconds);
}
