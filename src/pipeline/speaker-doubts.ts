import type { Turn } from "../engine/index.ts";

/** A speaker this much further from a moment than the nearest one is a third as likely to be heard there. */
const nearSeconds = 0.15;
/** Moments of a word lie at most this far apart. */
const stepSeconds = 0.05;

/**
 * Doubt about whoever has the longest of the turns that lie over a moment: a turn goes on over its pauses, and what another
 * throws in is mostly said in one. Enough to tell whose a sentence is, too little to tear one apart.
 */
const longerDoubt = 0.2;

/** How much speaks against a speaker by the turns; asked for one word after the other. */
export class SpeakerDoubts {
  private readonly own: readonly (readonly Turn[])[];
  /** The first turn of each speaker that no later word lies behind. */
  private readonly next: number[];

  /**
   * @param turns in order of their start; they may overlap
   * @param speakers the speakers that the doubts are listed for
   */
  constructor(turns: readonly Turn[], speakers: readonly number[]) {
    const bySpeaker = Map.groupBy(turns, (turn) => turn.speaker);
    this.own = speakers.map((speaker) => bySpeaker.get(speaker) ?? []);
    this.next = speakers.map(() => 0);
  }

  /**
   * For each speaker the seconds of a word in which others speak and this one doesn't; less near the edges of turns, and a
   * little where this one speaks in a longer turn than another.
   * @param word begins no earlier than the one before
   */
  of(word: { readonly startSeconds: number; readonly endSeconds: number }): number[] {
    const seconds = Math.max(word.endSeconds - word.startSeconds, stepSeconds);
    const moments = Math.ceil(seconds / stepSeconds);
    const doubts = this.own.map(() => 0);
    for (let moment = 0; moment < moments; moment++) {
      const at = word.startSeconds + ((moment + 0.5) * seconds) / moments;
      const nearest = this.own.map((_, index) => this.nearest(index, word.startSeconds, at));
      const least = Math.min(...nearest.map(({ distance }) => distance));
      const shortest = Math.min(...nearest.filter(({ distance }) => distance === least).map(({ length }) => length));
      for (const [index, { distance, length }] of nearest.entries()) {
        const apart = 1 - Math.exp((least - distance) / nearSeconds);
        const doubt = distance === 0 ? longerDoubt * (1 - shortest / length) : apart;
        doubts[index] = (doubts[index] ?? 0) + (doubt * seconds) / moments;
      }
    }
    return doubts;
  }

  /** A speaker's turn nearest to a moment: how far off it is, 0 within it, and how long it lasts, in seconds. */
  private nearest(index: number, from: number, at: number): { distance: number; length: number } {
    const turns = this.own[index] ?? [];
    let next = this.next[index] ?? 0;
    // The one before is kept: it may be the nearest.
    while ((turns[next + 1]?.endSeconds ?? Number.POSITIVE_INFINITY) <= from) next++;
    this.next[index] = next;
    let best = { distance: Number.POSITIVE_INFINITY, length: 0 };
    for (let turn = turns[next]; turn !== undefined && turn.startSeconds - at < best.distance; turn = turns[++next]) {
      const distance = Math.max(0, turn.startSeconds - at, at - turn.endSeconds);
      if (distance < best.distance) best = { distance, length: turn.endSeconds - turn.startSeconds };
    }
    return best;
  }
}
