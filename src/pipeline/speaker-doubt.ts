import type { Segment } from "../segments/index.ts";
import { OverlapFinder, sharedSeconds } from "../timeline/index.ts";
import type { Diarized } from "./diarize.ts";
import type { ComparedFragment } from "./second-pass.ts";

/**
 * Margin between the similarities to two speakers' voices below which a segment may be either's. On the ten quick
 * exchanges for tuning, 5 of the 8 segments below 0.2 have a wrong speaker, of the 12 that have one. With 0.15, 3 of 4; with
 * 0.25, 5 of 13. docs/quality.md has the whole curve, and the figures of other recordings.
 */
const MIN_MARGIN = 0.2;

/**
 * Decides for one segment after the other, in order, whether its speaker is uncertain. A segment whose voice was not
 * compared is not: it is in a long run of one speaker, or too short for a voice. Of the short ones, too few are wrong to
 * mark them all.
 */
export class SpeakerDoubt {
  readonly #compared: OverlapFinder<ComparedFragment>;

  constructor({ compared }: Pick<Diarized, "compared">) {
    this.#compared = new OverlapFinder(compared);
  }

  isUncertain(segment: Segment): boolean {
    const margin = this.#marginOf(segment);
    return margin !== null && margin < MIN_MARGIN;
  }

  /** Returns how much more similar a segment's voice is to its speaker's than to any other's; null if it is unknown. */
  #marginOf(segment: Segment): number | null {
    let seconds = 0;
    let sum = 0;
    for (const fragment of this.#compared.overlapping(segment)) {
      const common = sharedSeconds(fragment, segment);
      seconds += common;
      sum += common * (fragment.speaker === segment.speaker ? fragment.margin : -fragment.margin);
    }
    return seconds === 0 ? null : sum / seconds;
  }
}
