import { comparableText } from "../../speech/index.ts";
import type { EngineWord } from "../../timeline/index.ts";

/**
 * Sound after a word without which its recognition may still change. On 32 readings (Whisper base), 0.6 s made 1.3 points
 * more word errors, and words were final 0.05 s earlier; on seven dialogues it made no difference.
 */
const AFTER_WORD_SECONDS = 0.9;
/**
 * Duration of a pass from which the next one no longer begins where it did, and the sound of final words with which it
 * begins then, so that whisper does not begin in mid-sentence. On the same recordings, 8 s and 2.5 s made 0.4 points more
 * word errors, 12 s and 5 s 0.5 points more.
 */
const LONG_SECONDS = 10;
const KEPT_SECONDS = 4;

/**
 * Time between a passage and the final words before it up to which its passes begin with these words, as if there was no
 * pause: whisper recognizes the first words of a turn better. See docs/decisions/0025.
 */
const MAX_GAP_SECONDS = 2;

/** Time between the final words and those of a pass in which the pass may have omitted words. */
const OMITTED_SECONDS = 1;

/** The words of a pass: those that are final now, and those that may change. */
export interface PassWords {
  readonly final: readonly EngineWord[];
  readonly open: readonly EngineWord[];
}

/** Decides which words of a passage are final, and with which of them its next pass begins. */
export class PassageWords {
  readonly #passageSeconds: number;
  #startSeconds: number;
  /** The final words in the sound of the next pass. The first ones may be of the passage before. */
  #known: readonly EngineWord[];
  #previous: readonly EngineWord[] = [];

  /**
   * @param passageSeconds start of the passage
   * @param before the last final words before it
   */
  constructor(passageSeconds: number, before: readonly EngineWord[] = []) {
    this.#passageSeconds = passageSeconds;
    const isNear = passageSeconds - (before.at(-1)?.endSeconds ?? Number.NEGATIVE_INFINITY) <= MAX_GAP_SECONDS;
    this.#known = isNear ? latestOf(before) : [];
    this.#startSeconds = Math.min(passageSeconds, this.#known[0]?.startSeconds ?? passageSeconds);
  }

  /** Start of the sound that the next pass covers. */
  get startSeconds(): number {
    return this.#startSeconds;
  }

  /** The final words with which the next pass begins. */
  get known(): readonly EngineWord[] {
    return this.#known;
  }

  /** Lets further passes begin behind all words that are final so far. */
  beginAt(seconds: number): void {
    this.#startSeconds = seconds;
    this.#known = [];
  }

  /** Forgets the words that may change, and those of the passage before: the next pass has another language. */
  restart(): void {
    this.#previous = [];
    this.forgetBefore();
  }

  /** Lets further passes begin with the passage, unless they begin later. */
  forgetBefore(): void {
    if (this.#startSeconds >= this.#passageSeconds) return;
    this.#known = this.#known.filter((word) => this.#isOwn(word));
    this.#startSeconds = this.#passageSeconds;
  }

  /**
   * Adds the words of a pass after the known ones.
   * @param endSeconds end of the sound of the pass
   * @param mayBeFinal the words that may become final: `agreed` ones, `all` after the last pass, or `none`
   */
  add(found: readonly EngineWord[], endSeconds: number, mayBeFinal: "all" | "agreed" | "none"): PassWords {
    const words = [...this.#omittedBefore(found), ...found];
    if (mayBeFinal === "none") {
      this.#previous = words;
      return { final: [], open: words };
    }
    const differing = words.findIndex((word, at) => {
      const isSure = word.endSeconds <= endSeconds - AFTER_WORD_SECONDS;
      return !isSure || !isSame(word, this.#previous[at]);
    });
    const count = mayBeFinal === "all" || differing < 0 ? words.length : differing;
    const [final, open] = [words.slice(0, count), words.slice(count)];
    this.#known = [...this.#known, ...final];
    this.#previous = open;
    this.#moveStart(endSeconds);
    return { final, open };
  }

  /** Returns words of the pass before that this pass, whose words begin long after the final ones, has omitted. */
  #omittedBefore([first]: readonly EngineWord[]): readonly EngineWord[] {
    const last = this.#known.at(-1);
    if (first === undefined || last === undefined || !this.#isOwn(last)) return [];
    if (first.startSeconds - last.endSeconds < OMITTED_SECONDS || isSame(first, this.#previous[0])) return [];
    return this.#previous.filter(({ endSeconds }) => endSeconds <= first.startSeconds);
  }

  #moveStart(endSeconds: number): void {
    if (endSeconds - this.#startSeconds <= LONG_SECONDS) return;
    const latest = latestOf(this.#known);
    const startSeconds = latest[0]?.startSeconds ?? this.#startSeconds;
    if (startSeconds <= this.#startSeconds) return;
    this.#startSeconds = startSeconds;
    this.#known = latest;
  }

  /** Returns whether a word is of this passage. */
  #isOwn({ startSeconds, endSeconds }: EngineWord): boolean {
    return (startSeconds + endSeconds) / 2 > this.#passageSeconds;
  }
}

/** Returns the final words with which a pass begins: those of the last seconds, at least one. */
function latestOf(words: readonly EngineWord[]): readonly EngineWord[] {
  const from = (words.at(-1)?.endSeconds ?? 0) - KEPT_SECONDS;
  const first = words.findIndex(({ startSeconds }) => startSeconds >= from);
  return words.slice(first < 0 ? -1 : first);
}

function isSame(one: EngineWord, other: EngineWord | undefined): boolean {
  return other !== undefined && comparableText(one.text) === comparableText(other.text);
}

/** Returns words without those at their beginning that repeat the last words before them. */
export function withoutOverlap(before: readonly EngineWord[], words: readonly EngineWord[]): readonly EngineWord[] {
  const textOf = (list: readonly EngineWord[]) => list.map(({ text }) => comparableText(text)).join(" ");
  for (let count = Math.min(before.length, words.length); count > 0; count--) {
    if (textOf(before.slice(-count)) === textOf(words.slice(0, count))) return words.slice(count);
  }
  return words;
}
