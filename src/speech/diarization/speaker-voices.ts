import { blockCount, frameSeconds } from "../../blocks/index.ts";
import { OverlapFinder, type Span, secondsOf, sharedSeconds, type Turn, type WorkArea } from "../../timeline/index.ts";
import type { SpeakerVoice } from "../../voices/index.ts";
import { removeChannel } from "./remove-channel.ts";
import { addScaled, unit } from "./similarity.ts";
import { readVoices } from "./voices.ts";

/** Minimum share of a fragment that the turns of its speaker cover. */
const MIN_OWN_SHARE = 0.9;
/** Maximum share of a fragment that the turns of another speaker cover. */
const MAX_OTHER_SHARE = 0.1;

/** The sum of a speaker's embeddings so far. */
interface Sum {
  readonly vector: Float32Array;
  seconds: number;
  /** End of the last fragment, as fragments of several windows overlap. */
  reachedSeconds: number;
}

/**
 * Returns the voice of each speaker that has clean speech, by speaker number; none whose embedding is no number. It is
 * the mean of the speaker's fragments without their channel component, of unit length.
 * Fragments in which several people speak are left out. Reads one block of embeddings at a time.
 * @param turns the final turns of the track, in order of their starts
 */
export async function speakerVoices(area: WorkArea, turns: readonly Turn[]): Promise<SpeakerVoice[]> {
  const sums = new Map<number, Sum>();
  for (let block = 0; block < blockCount(area.pcm.sampleCount); block++) {
    const fragments = (await readVoices(area, block))
      .flatMap(({ fragments }) => fragments)
      // Joined scraps have no place of their own.
      .filter(({ start, end }) => end > start)
      .map(({ start, end, embedding }) => {
        return { startSeconds: frameSeconds(start), endSeconds: frameSeconds(end), embedding };
      })
      .sort((a, b) => a.startSeconds - b.startSeconds);
    const overlaps = new OverlapFinder(turns);
    for (const fragment of fragments) {
      const speaker = onlySpeaker(fragment, overlaps.overlapping(fragment));
      if (speaker !== null) addFragment(sums, speaker, fragment);
    }
  }
  return [...sums]
    .map(([speaker, { vector, seconds }]) => ({ speaker, seconds, embedding: unit(vector) }))
    .filter(({ embedding }) => embedding.every(Number.isFinite))
    .sort((a, b) => a.speaker - b.speaker);
}

function addFragment(
  sums: Map<number, Sum>,
  speaker: number,
  { startSeconds, endSeconds, embedding }: Span & { readonly embedding: Float32Array },
): void {
  const sum = sums.get(speaker) ?? { vector: new Float32Array(embedding.length), seconds: 0, reachedSeconds: 0 };
  addScaled(sum.vector, removeChannel(embedding), endSeconds - startSeconds);
  sum.seconds += Math.max(0, endSeconds - Math.max(startSeconds, sum.reachedSeconds));
  sum.reachedSeconds = Math.max(sum.reachedSeconds, endSeconds);
  sums.set(speaker, sum);
}

/** Returns the speaker of a fragment; null if it is nobody's, or if others speak in it. @param turns those that overlap it */
function onlySpeaker(fragment: Span, turns: readonly Turn[]): number | null {
  const covered = new Map<number, number>();
  for (const turn of turns) {
    covered.set(turn.speaker, (covered.get(turn.speaker) ?? 0) + sharedSeconds(turn, fragment));
  }
  const seconds = secondsOf(fragment);
  const [own, other] = [...covered].sort(([, a], [, b]) => b - a);
  if (own === undefined || own[1] < MIN_OWN_SHARE * seconds) return null;
  return other !== undefined && other[1] > MAX_OTHER_SHARE * seconds ? null : own[0];
}
