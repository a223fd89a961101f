import { type EngineWord, SAMPLE_RATE } from "../../timeline/index.ts";
import { sampleOf } from "../turns/index.ts";
import { type LiveArea, spanOf } from "./live-area.ts";
import type { LiveLanguage, LiveModel } from "./live-language.ts";
import { PassageWords, withoutOverlap } from "./passage-words.ts";
import type { Passage, Turn } from "./turn.ts";

/**
 * New speech after which a pass is worth its cost. With 0.6 s, words are shown and final 0.1 s earlier, with about one point
 * more word errors: passes that are close to each other agree on wrong words.
 */
const STEP_SAMPLES = 0.8 * SAMPLE_RATE;
/** Silence after which the words before it are recognized at once: the passage may be over. */
const PAUSE_SAMPLES = 0.2 * SAMPLE_RATE;
/** Sound after the detected one that a pass may cover: the latest words appear sooner. */
const AHEAD_SAMPLES = 0.3 * SAMPLE_RATE;
/** Speech that may have been added to a passage without another pass at its end: the rounding of its end. */
const SAME_END_SAMPLES = 0.05 * SAMPLE_RATE;
/**
 * Speech after the last final word without which whisper cannot have omitted any; the distance from that word at which the
 * speech is recognized alone; and the sound before its first word with which further passes begin.
 */
const OMITTED_SECONDS = 0.5;
const AFTER_KNOWN_SECONDS = 0.05;
const BEFORE_WORD_SECONDS = 0.1;
/** Speech that has a word. */
const LEAST_SAMPLES = 0.05 * SAMPLE_RATE;
/**
 * Sound after a passage for which its words wait for a language that is not sure yet, unless more speech decides earlier;
 * and the speech after it that does.
 */
const LANGUAGE_WAIT_SAMPLES = 2 * SAMPLE_RATE;
const DECIDING_SAMPLES = 1 * SAMPLE_RATE;
/** Longest sound by which a language is decided: the window of a detection. */
const MAX_DECIDING_SAMPLES = 30 * SAMPLE_RATE;
/** Number of final words that are remembered: more than are spoken in the seconds with which a pass begins. */
const MOST_WORDS_BEFORE = 50;
/** Pass up to which it may begin with words of the passage before. A pass covers at most 30 s. */
const LONGEST_WITH_BEFORE_SECONDS = 15;
/** Number of last passes over a passage that may fail. */
const MAX_ATTEMPTS = 3;

export interface RecognitionOptions {
  readonly area: LiveArea;
  readonly language: LiveLanguage;
  /** Returns names and terms to expect; empty for none. */
  readonly vocabulary: () => string;
  /** Returns the next frame whose speech is not detected yet. */
  readonly nextFrame: () => number;
  readonly onFinal: (passage: Passage, words: readonly EngineWord[]) => void;
  /** Called with the words of a passage that may change, when they have changed. */
  readonly onPartial: (turn: Turn, words: readonly EngineWord[]) => void;
  readonly onPassageEnd: (passage: Passage) => void;
  /** Called when all words of a turn are final, in the order of the turns. */
  readonly onTurnEnd: (turn: Turn) => void;
  /** Called with the error of a passage whose words could not be recognized. */
  readonly onFault: (error: unknown) => void;
}

/** The passes over one passage. */
interface Progress {
  readonly words: PassageWords;
  /** End of the latest pass. */
  passedSample: number;
  /** Language of the latest pass, ISO 639. */
  language: string | null;
  open: readonly EngineWord[];
  /** End of the speech that a pass in a pause has covered completely. */
  completedSample: number;
  attempts: number;
  probabilities: number[];
  /** Whether its last words wait for the language. */
  isWaiting: boolean;
}

/**
 * Recognizes the words of a session's passages in their order, with one pass at a time. A passage that has ended goes
 * before the one that grows, so when passes lag behind, words that may change are skipped, and no final ones are lost.
 */
export class Recognition {
  readonly #options: RecognitionOptions;
  readonly #turns: Turn[] = [];
  readonly #passages: Passage[] = [];
  readonly #progress = new WeakMap<Passage, Progress>();
  /** The latest final words, and their language. */
  #before: { readonly words: readonly EngineWord[]; readonly language: string | null } = { words: [], language: null };
  /** End of the sound whose words are not known: no pass begins before it with words of an earlier passage. */
  #unknownSample = 0;
  /** The sample before which no word waits for the language. */
  #hurriedSample = 0;

  constructor(options: RecognitionOptions) {
    this.#options = options;
  }

  /** Whether all words of the sound so far are final. */
  get isIdle(): boolean {
    return this.#turns.length === 0;
  }

  /** The sample before which all words are final: everything in front of the first passage. Null without a passage. */
  get finalSample(): number | null {
    return this.#passages[0]?.finalSample ?? null;
  }

  /** The start of the first passage that has ended, whose words are behind; null if there is none. */
  get backlogSample(): number | null {
    return this.#passages.find(({ endSample }) => endSample !== null)?.startSample ?? null;
  }

  addTurn(turn: Turn): void {
    this.#turns.push(turn);
  }

  addPassage(passage: Passage): void {
    this.#passages.push(passage);
  }

  /** Sound up to a sample was dropped: no later pass may cover it. */
  drop(sampleCount: number): void {
    this.#unknownSample = sampleCount;
  }

  /** The client waits for the words of the sound so far: none of them waits for the language. */
  hurry(sampleCount: number): void {
    this.#hurriedSample = sampleCount;
  }

  /** Makes the next pass, if one is due. @returns whether it did anything */
  async step(): Promise<boolean> {
    const passage = this.#passages[0];
    if (passage === undefined || this.#turns[0] !== passage.turn) return this.#endTurn();
    if (passage.turn.isDropped) return this.#endPassage(passage);
    const progress = this.#progressOf(passage);
    const isWhole = passage.endSample !== null;
    const isCovered = passage.speechEndSample - progress.completedSample <= SAME_END_SAMPLES;
    const isRecognized = passage.speechEndSample - progress.words.startSeconds * SAMPLE_RATE < LEAST_SAMPLES;
    const isComplete = isWhole && (isCovered || isRecognized);
    if (isComplete && !progress.isWaiting) {
      progress.isWaiting = progress.open.length > 0 && this.#mayWait(passage);
      if (!progress.isWaiting) return this.#completePassage(passage, progress);
    }
    const isUndecided = progress.isWaiting && this.#mayWait(passage) && !this.#isDecided();
    if (isUndecided || (!isWhole && !this.#isWorthPass(passage, progress))) return false;
    try {
      return await this.#pass(passage, progress, isWhole);
    } catch (error) {
      if (isWhole) progress.attempts += 1;
      if (progress.attempts < MAX_ATTEMPTS) throw error;
      passage.turn.hasFailed = true;
      this.#unknownSample = passage.endSample ?? passage.speechEndSample;
      this.#options.onFault(error);
      return this.#endPassage(passage);
    }
  }

  async #pass(passage: Passage, progress: Progress, isWhole: boolean): Promise<boolean> {
    const { area, language } = this.#options;
    // More sound may have arrived than a pass covers, and it may have the silence that ends the passage.
    const endSample = passage.endSample ?? Math.min(area.sampleCount, this.#detectedSample + AHEAD_SAMPLES);
    const speechEndSample = passage.speechEndSample;
    const isPaused = this.#isPaused(passage);
    const spoken = await language.of({
      span: spanOf(passage.startSample, progress.isWaiting ? this.#decidingEnd(endSample) : endSample),
      isWhole,
      of: passage,
    });
    if (spoken === null) return isWhole && this.#endPassage(passage);
    if (progress.isWaiting && progress.language === spoken.code) return this.#completePassage(passage, progress);
    if ((progress.language ?? this.#before.language) !== spoken.code) progress.words.restart();
    if (endSample / SAMPLE_RATE - progress.words.startSeconds > LONGEST_WITH_BEFORE_SECONDS)
      progress.words.forgetBefore();
    progress.language = spoken.code;
    const seconds = { end: endSample / SAMPLE_RATE, speechEnd: speechEndSample / SAMPLE_RATE };
    const recognized = await this.#recognize(progress.words, seconds, language.modelFor(spoken));
    if (passage.turn.isDropped) return this.#endPassage(passage);
    // The passage may have been cut meanwhile: the words behind the cut belong to the next one.
    const limit = (passage.endSample ?? endSample) / SAMPLE_RATE;
    const words = recognized.filter((word) => (word.startSeconds + word.endSeconds) / 2 < limit);
    progress.passedSample = endSample;
    progress.completedSample = isWhole || isPaused ? speechEndSample : 0;
    progress.probabilities = words.map(({ probability }) => probability);
    progress.isWaiting = isWhole && !progress.isWaiting && words.length > 0 && this.#mayWait(passage);
    const isLast = isWhole && !progress.isWaiting;
    this.#add(passage, progress, words, isLast);
    return isLast ? this.#endPassage(passage) : true;
  }

  /** Ends a passage with the words of its latest pass. */
  #completePassage(passage: Passage, progress: Progress): true {
    this.#add(passage, progress, progress.open, true);
    return this.#endPassage(passage);
  }

  /** Returns whether words of a passage may wait until its language is sure. */
  #mayWait({ startSample, speechEndSample }: Passage): boolean {
    const isRecent = this.#detectedSample - speechEndSample < LANGUAGE_WAIT_SAMPLES;
    return isRecent && startSample >= this.#hurriedSample && !this.#options.language.isSettled;
  }

  /** Returns whether the passage after the first one has enough speech to decide the language of both. */
  #isDecided(): boolean {
    const next = this.#passages[1];
    return next !== undefined && next.speechEndSample - next.startSample >= DECIDING_SAMPLES;
  }

  /** Returns the end of the speech by which the language of the first passage is decided. */
  #decidingEnd(endSample: number): number {
    const longest = (this.#passages[0]?.startSample ?? 0) + MAX_DECIDING_SAMPLES;
    return Math.max(endSample, Math.min(longest, this.#passages[1]?.speechEndSample ?? endSample));
  }

  /** Recognizes the words after the known ones. @param end of the sound, and of the speech in it */
  async #recognize(
    words: PassageWords,
    { end: endSeconds, speechEnd }: { readonly end: number; readonly speechEnd: number },
    model: LiveModel,
  ): Promise<readonly EngineWord[]> {
    const { area, vocabulary } = this.#options;
    const { startSeconds, known } = words;
    const recognized = await area.transcribe({ startSeconds, endSeconds }, model, vocabulary(), known);
    const last = known.at(-1);
    if (recognized.length > 0 || last === undefined || speechEnd - last.endSeconds < OMITTED_SECONDS) return recognized;
    // After a sentence and a pause, whisper often ends its text although somebody continues to speak.
    const rest = { startSeconds: last.endSeconds + AFTER_KNOWN_SECONDS, endSeconds };
    const omitted = withoutOverlap(known, await area.transcribe(rest, model, vocabulary(), []));
    if (omitted[0] !== undefined)
      words.beginAt(Math.max(last.endSeconds, omitted[0].startSeconds - BEFORE_WORD_SECONDS));
    return omitted;
  }

  /** Takes the words of a pass. */
  #add(passage: Passage, progress: Progress, words: readonly EngineWord[], isLast: boolean): void {
    const { language, onFinal, onPartial } = this.#options;
    // In a language that is not sure yet, no word is final.
    const mayBeFinal = isLast ? "all" : language.isSettled ? "agreed" : "none";
    const { final, open } = progress.words.add(words, progress.passedSample / SAMPLE_RATE, mayBeFinal);
    const hadOpen = progress.open.length > 0;
    progress.open = open;
    if (final.length > 0) {
      passage.turn.language = progress.language;
      passage.finalSample = Math.round((final.at(-1)?.endSeconds ?? 0) * SAMPLE_RATE);
      this.#before = {
        words: [...this.#before.words, ...final].slice(-MOST_WORDS_BEFORE),
        language: progress.language,
      };
      onFinal(passage, final);
    }
    if (open.length > 0 || (hadOpen && final.length === 0)) onPartial(passage.turn, open);
  }

  #isWorthPass(passage: Passage, { passedSample, completedSample }: Progress): boolean {
    if (passage.speechEndSample - passedSample >= STEP_SAMPLES) return true;
    return this.#isPaused(passage) && passage.speechEndSample - completedSample > SAME_END_SAMPLES;
  }

  #isPaused({ speechEndSample }: Passage): boolean {
    return this.#detectedSample - speechEndSample >= PAUSE_SAMPLES;
  }

  /** The sample up to which speech is detected. */
  get #detectedSample(): number {
    return sampleOf(this.#options.nextFrame());
  }

  #endPassage(passage: Passage): true {
    const { language, onPassageEnd } = this.#options;
    const { probabilities } = this.#progressOf(passage);
    const mean =
      probabilities.length === 0 ? null : probabilities.reduce((sum, one) => sum + one) / probabilities.length;
    language.recognized((passage.speechEndSample - passage.startSample) / SAMPLE_RATE, mean);
    this.#passages.splice(this.#passages.indexOf(passage), 1);
    onPassageEnd(passage);
    return true;
  }

  /** Ends the first turn, if it has no further passages. @returns whether it has ended */
  #endTurn(): boolean {
    const turn = this.#turns[0];
    if (turn === undefined || !turn.isSettled) return false;
    this.#turns.shift();
    if (!turn.isDropped) this.#options.onTurnEnd(turn);
    return true;
  }

  #progressOf(passage: Passage): Progress {
    const known = this.#progress.get(passage);
    if (known !== undefined) return known;
    const before = this.#before.words.filter(({ startSeconds }) => startSeconds * SAMPLE_RATE >= this.#unknownSample);
    const progress: Progress = {
      words: new PassageWords(passage.startSample / SAMPLE_RATE, before),
      passedSample: passage.startSample,
      language: null,
      open: [],
      completedSample: 0,
      attempts: 0,
      probabilities: [],
      isWaiting: false,
    };
    this.#progress.set(passage, progress);
    return progress;
  }
}
