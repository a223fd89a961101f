import type { EngineWord } from "../../timeline/index.ts";

/** Sound after a word without which its recognition may still change. */
const AFTER_WORD_SECONDS = 0.3;

/** The words of a pass: those that are final now, and those that may change. */
export interface PassWords {
  readonly final: readonly EngineWord[];
  readonly open: readonly EngineWord[];
}

/** Decides which words of a passage are final: those on which two passes in a row agree. */
export class WordAgreement {
  #finalSeconds: number;
  #previous: readonly EngineWord[] = [];

  /** @param fromSeconds end of the last word that is final already */
  constructor(fromSeconds: number) {
    this.#finalSeconds = fromSeconds;
  }

  /**
   * Adds the words of a pass over the passage up to `endSeconds`.
   * @param mayBeFinal the words that may become final: `agreed` ones, `all` after the last pass, or `none`
   */
  add(words: readonly EngineWord[], endSeconds: number, mayBeFinal: "all" | "agreed" | "none"): PassWords {
    const fresh = words.filter((word) => (word.startSeconds + word.endSeconds) / 2 > this.#finalSeconds);
    const agreed = fresh.findIndex((word, at) => {
      const isSure = word.endSeconds <= endSeconds - AFTER_WORD_SECONDS;
      return !isSure || comparable(word) !== comparable(this.#previous[at]);
    });
    const count = mayBeFinal === "all" || agreed < 0 ? fresh.length : agreed;
    if (mayBeFinal === "none") {
      this.#previous = fresh;
      return { final: [], open: fresh };
    }
    const [final, open] = [fresh.slice(0, count), fresh.slice(count)];
    this.#finalSeconds = final.at(-1)?.endSeconds ?? this.#finalSeconds;
    this.#previous = open;
    return { final, open };
  }
}

function comparable(word: EngineWord | undefined): string | undefined {
  return word?.text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
