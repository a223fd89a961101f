import type { Turn } from "../timeline/index.ts";

/**
 * Distance scale in seconds: a speaker this much further from a moment than the nearest speaker is about a third as
 * likely to speak then.
 */
const nearSeconds = 0.15;
/** Maximum distance between the sampled moments of a word, in seconds. */
const stepSeconds = 0.05;

/**
 * Upper limit of the doubt about a speaker whose turn is longer than another turn at the same moment. A turn spans its
 * pauses, and another speaker's interjection mostly falls into such a pause. The value is large enough to decide whose
 * a sentence is, and too small to split one.
 */
const longerDoubt = 0.2;

/**
 * Measures the evidence against each speaker, from the turns; it is called for one word after the other. It runs for
 * every twentieth of a second of recordings that can be days long, so it allocates no objects. Allocations alone took
 * most of the time of the speaker assignment.
 */
export class SpeakerDoubts {
  private readonly own: readonly (readonly Turn[])[];
  /** Index of each speaker's first turn that a later word may still need. */
  private readonly next: number[];
  /** Distance from a moment to each speaker's nearest turn (0 within it), and that turn's length, in seconds. */
  private readonly distances: Float64Array;
  private readonly lengths: Float64Array;
  private readonly doubts: Float64Array;

  /**
   * @param turns in order of their start; they may overlap
   * @param speakers the speakers, in the order of the returned doubts
   */
  constructor(turns: readonly Turn[], speakers: readonly number[]) {
    const bySpeaker = Map.groupBy(turns, (turn) => turn.speaker);
    this.own = speakers.map((speaker) => bySpeaker.get(speaker) ?? []);
    this.next = speakers.map(() => 0);
    this.distances = new Float64Array(speakers.length);
    this.lengths = new Float64Array(speakers.length);
    this.doubts = new Float64Array(speakers.length);
  }

  /**
   * Returns, for each speaker, the seconds of a word in which others speak and this speaker does not. The value is
   * lower near the edges of turns. It is slightly above 0 where this speaker's turn is longer than another one.
   * @param word begins no earlier than the previous one
   * @returns the same array on each call
   */
  of(word: { readonly startSeconds: number; readonly endSeconds: number }): Float64Array {
    const { doubts, distances, lengths } = this;
    const seconds = Math.max(word.endSeconds - word.startSeconds, stepSeconds);
    const moments = Math.ceil(seconds / stepSeconds);
    doubts.fill(0);
    for (let moment = 0; moment < moments; moment++) {
      this.look(word.startSeconds, word.startSeconds + ((moment + 0.5) * seconds) / moments);
      let least = Number.POSITIVE_INFINITY;
      let shortest = Number.POSITIVE_INFINITY;
      for (let index = 0; index < doubts.length; index++) {
        const distance = distances[index] ?? 0;
        const length = lengths[index] ?? 0;
        if (distance < least || (distance === least && length < shortest)) shortest = length;
        least = Math.min(least, distance);
      }
      for (let index = 0; index < doubts.length; index++) {
        const distance = distances[index] ?? 0;
        const doubt =
          distance === 0
            ? longerDoubt * (1 - shortest / (lengths[index] ?? 0))
            : 1 - Math.exp((least - distance) / nearSeconds);
        doubts[index] = (doubts[index] ?? 0) + (doubt * seconds) / moments;
      }
    }
    return doubts;
  }

  /** Finds each speaker's turn that is nearest to a moment. */
  private look(from: number, at: number): void {
    for (let index = 0; index < this.own.length; index++) {
      const turns = this.own[index] ?? [];
      let next = this.next[index] ?? 0;
      // A turn that may still be the nearest is not skipped.
      while ((turns[next + 1]?.endSeconds ?? Number.POSITIVE_INFINITY) <= from) next++;
      this.next[index] = next;
      let nearest = Number.POSITIVE_INFINITY;
      let length = 0;
      for (let turn = turns[next]; turn !== undefined && turn.startSeconds - at < nearest; turn = turns[++next]) {
        const distance = Math.max(0, turn.startSeconds - at, at - turn.endSeconds);
        if (distance >= nearest) continue;
        nearest = distance;
        length = turn.endSeconds - turn.startSeconds;
      }
      this.distances[index] = nearest;
      this.lengths[index] = length;
    }
  }
}
