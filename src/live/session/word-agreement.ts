import type { EngineWord } from "../../timeline/index.ts";
import { comparable, repeatedCount } from "./repeated-words.ts";

/**
 * Sound after a word without which its recognition may still change. With 0.6 s, the final words of two dialogues and a
 * German reading had 0.8 points more errors than with 1.0 s, and were 0.35 s earlier.
 */
const AFTER_WORD_SECONDS = 0.8;
/** Number of final words with which the beginning of a pass is compared. */
const COMPARED_WORDS = 12;

/** The words of a pass: those that are final now, and those that may change. */
export interface PassWords {
  readonly final: readonly EngineWord[];
  readonly open: readonly EngineWord[];
}

/** Decides which words of a passage are final: those on which two passes in a row agree. */
export class WordAgreement {
  #finalSeconds: number;
  /** The latest final words. */
  #final: readonly EngineWord[] = [];
  #previous: readonly EngineWord[] = [];

  /** @param fromSeconds end of the last word that is final already */
  constructor(fromSeconds: number) {
    this.#finalSeconds = fromSeconds;
  }

  /**
   * Adds the words of a pass over a part of the passage.
   * @param span the part; it may begin with words that are final already
   * @param mayBeFinal the words that may become final: `agreed` ones, `all` after the last pass, or `none`
   */
  add(
    words: readonly EngineWord[],
    span: { readonly startSeconds: number; readonly endSeconds: number },
    mayBeFinal: "all" | "agreed" | "none",
  ): PassWords {
    const fresh = words.slice(repeatedCount(words, this.#final, this.#finalSeconds, span.startSeconds));
    if (mayBeFinal === "none") {
      this.#previous = fresh;
      return { final: [], open: fresh };
    }
    const differing = fresh.findIndex((word, at) => {
      const isSure = word.endSeconds <= span.endSeconds - AFTER_WORD_SECONDS;
      return !isSure || !isSame(word, this.#previous[at]);
    });
    const count = mayBeFinal === "all" || differing < 0 ? fresh.length : differing;
    const [final, open] = [fresh.slice(0, count), fresh.slice(count)];
    this.#finalSeconds = Math.max(this.#finalSeconds, final.at(-1)?.endSeconds ?? 0);
    this.#final = [...this.#final, ...final].slice(-COMPARED_WORDS);
    this.#previous = open;
    return { final, open };
  }
}

function isSame(one: EngineWord, other: EngineWord | undefined): boolean {
  return other !== undefined && comparable(one) === comparable(other);
}
