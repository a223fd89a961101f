import type { SpeechModel } from "../../models/index.ts";
import type { RecordingModels } from "../../pipeline/index.ts";
import {
  type Language,
  otherLanguage,
  type Probabilities,
  readModelLanguages,
  sureProbability,
} from "../../speech/index.ts";
import { type Span, secondsOf } from "../../timeline/index.ts";

/** A model and the language in which it recognizes the words of a turn. */
export interface LiveModel {
  readonly model: SpeechModel;
  /** The model's code of the language. */
  readonly code: string;
}

/** The models, as live sessions use them. */
export type LiveModels = Pick<RecordingModels, "current" | "companionOf" | "routes" | "languagesOf" | "knownEncoderOf">;

/**
 * Speech from which a first language is detected, so that words appear soon; from which it is settled if it is sure; and
 * from which it is settled. Of the beginnings of 32 recordings in six languages (Whisper base), 3, 3, 1 and 0 had a wrong
 * language after 1, 1.5, 2 and 3 s, and of the sure ones 1 of 17, 0 of 21, 0 of 22 and 0 of 27.
 */
const FIRST_SECONDS = 1;
const SURE_SECONDS = 1.5;
const FINAL_SECONDS = 3;
/** Speech after which the language is detected again: people may change it. A detection costs about as much as a pass. */
const RECHECK_SECONDS = 30;
/** Mean probability of the words of a turn below which the language of the next one is detected again. */
const DOUBTFUL_PROBABILITY = 0.5;

interface LiveLanguageOptions {
  readonly models: LiveModels;
  readonly detect: (span: Span, model: SpeechModel) => Promise<Probabilities>;
}

/** The speech of a passage so far. */
interface Speech {
  readonly span: Span;
  /** Whether it will not grow. */
  readonly isWhole: boolean;
  /** Identity of the passage. */
  readonly of: object;
}

/** The language of a session: pinned by the client, or detected at the beginning and again from time to time. */
export class LiveLanguage {
  readonly #options: LiveLanguageOptions;
  /** ISO 639. */
  #pinned: string | null;
  #detected: Language | null = null;
  /** Whether the language was detected in enough speech, or surely. */
  #isSettled = false;
  /** Seconds of speech since the last detection. */
  #sinceCheck = 0;
  /** The passage in which a language was detected last, and its speech at that time. */
  #latest: { readonly of: object; readonly seconds: number } | null = null;

  constructor(options: LiveLanguageOptions, pinned: string | null) {
    this.#options = options;
    this.#pinned = pinned;
  }

  /** Pins a language (ISO 639); null to detect it. */
  pin(language: string | null): void {
    this.#pinned = language;
  }

  /** Whether words may be final in the current language. */
  get isSettled(): boolean {
    return this.#isSettled || this.#sole() !== null;
  }

  /**
   * Returns the language of speech, and detects it if that is due.
   * @returns null while there is too little speech to detect it
   */
  async of({ span, isWhole, of }: Speech): Promise<Language | null> {
    const sole = this.#sole();
    if (sole !== null) return sole;
    const seconds = secondsOf(span);
    const before = this.#latest?.of === of ? this.#latest.seconds : 0;
    if (!this.#isDue(seconds, isWhole, before)) return this.#detected;
    const { models, detect } = this.#options;
    const model = models.current();
    const detector = models.companionOf(model) ?? model;
    const probabilities = await detect(span, detector);
    this.#sinceCheck = 0;
    this.#latest = { of, seconds };
    const languages = models.languagesOf(model);
    const code = this.#isSettled
      ? otherLanguage(probabilities, this.#detected?.modelCode ?? "")
      : mostProbable(probabilities);
    this.#detected = languages.find(({ modelCode }) => modelCode === code) ?? this.#detected;
    const isSure = seconds >= SURE_SECONDS && Object.values(probabilities).some((one) => one >= sureProbability);
    if (isSure || seconds >= FINAL_SECONDS) this.#isSettled = true;
    return this.#detected;
  }

  /** Counts a passage whose words are recognized. @param probability mean of its words; null without words */
  recognized(seconds: number, probability: number | null): void {
    this.#sinceCheck += probability !== null && probability < DOUBTFUL_PROBABILITY ? RECHECK_SECONDS : seconds;
  }

  /** Returns the model that recognizes a language, and its code there. */
  modelFor({ code, modelCode }: Language): LiveModel {
    const { models } = this.#options;
    const current = models.current();
    const detector = models.companionOf(current) ?? current;
    const own = models.routes().find(({ codes }) => codes.includes(code))?.model ?? current;
    const known = own.path === detector.path ? modelCode : codeIn(own, code);
    const model = known === undefined ? detector : own;
    return { model, code: known ?? modelCode };
  }

  /** @param before seconds of the passage when its language was detected; 0 if it was not */
  #isDue(seconds: number, isWhole: boolean, before: number): boolean {
    if (this.#isSettled) return this.#sinceCheck >= RECHECK_SECONDS && seconds >= FINAL_SECONDS;
    if (isWhole) return before < seconds;
    return [FIRST_SECONDS, SURE_SECONDS, FINAL_SECONDS].some((needed) => seconds >= needed && before < needed);
  }

  /** Returns the only possible language; null if it has to be detected. */
  #sole(): Language | null {
    const languages = this.#options.models.languagesOf(this.#options.models.current());
    const [only, second] = languages;
    const pinned = languages.find(({ code }) => code === this.#pinned);
    return pinned ?? (second === undefined ? (only ?? null) : null);
  }
}

function codeIn({ path }: SpeechModel, code: string): string | undefined {
  return readModelLanguages(path).find((language) => language.code === code)?.modelCode;
}

function mostProbable(probabilities: Probabilities): string | undefined {
  const [first] = Object.entries(probabilities).sort(([, a], [, b]) => b - a);
  return first?.[0];
}
