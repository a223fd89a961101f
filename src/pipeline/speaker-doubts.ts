import type { Turn } from "../timeline/index.ts";

/** A speaker this much further from a moment than the nearest one is a third as likely to be heard there. */
const nearSeconds = 0.15;
/** Moments of a word lie at most this far apart. */
const stepSeconds = 0.05;

/**
 * Doubt about whoever has the longest of the turns that lie over a moment: a turn goes on over its pauses, and what another
 * throws in is mostly said in one. Enough to tell whose a sentence is, too little to tear one apart.
 */
const longerDoubt = 0.2;

/**
 * How much speaks against a speaker by the turns; asked for one word after the other. It is asked for every twentieth of a
 * second of days, so it makes no objects: those alone took most of the time that words were given speakers in.
 */
export class SpeakerDoubts {
  private readonly own: readonly (readonly Turn[])[];
  /** The first turn of each speaker that no later word lies behind. */
  private readonly next: number[];
  /** Each speaker's turn nearest to a moment: how far off it is, 0 within it, and how long it lasts, in seconds. */
  private readonly distances: Float64Array;
  private readonly lengths: Float64Array;
  private readonly doubts: Float64Array;

  /**
   * @param turns in order of their start; they may overlap
   * @param speakers the speakers that the doubts are listed for
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
   * For each speaker the seconds of a word in which others speak and this one doesn't; less near the edges of turns, and a
   * little where this one speaks in a longer turn than another.
   * @param word begins no earlier than the one before
   * @returns the same array each time
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

  /** Looks for the turns nearest to a moment. */
  private look(from: number, at: number): void {
    for (let index = 0; index < this.own.length; index++) {
      const turns = this.own[index] ?? [];
      let next = this.next[index] ?? 0;
      // The one before is kept: it may be the nearest.
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
