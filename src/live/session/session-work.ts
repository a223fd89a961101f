import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { LiveEvent, LiveSegment, TurnRules } from "../contract.ts";
import { speakerNumber } from "../store/index.ts";
import { sampleOf } from "../turns/index.ts";
import { LiveArea, type LiveEngine } from "./live-area.ts";
import { LiveLanguage, type LiveModels } from "./live-language.ts";
import { LiveSpeakers } from "./live-speakers.ts";
import { Pump } from "./pump.ts";
import { Recognition } from "./recognition.ts";
import type { SessionSound } from "./session-sound.ts";
import type { SessionText } from "./session-text.ts";
import { SpeechWatch } from "./speech-watch.ts";
import { TurnKeeper } from "./turn-keeper.ts";

/** Time after which a failed operation is requested again. */
const RETRY_MILLISECONDS = 1000;
/** Failures in a row, without any success in between, after which the engine is considered broken. */
const MAX_FAILURES = 30;

export interface SessionWorkOptions {
  readonly engine: LiveEngine;
  readonly models: LiveModels;
  /** The session's work area. */
  readonly directory: string;
  readonly path: string;
  readonly sound: SessionSound;
  readonly text: SessionText;
  readonly rules: TurnRules | null;
  /** ISO 639; null to detect it. */
  readonly language: string | null;
  /** Returns names and terms to expect; empty for none. */
  readonly vocabulary: () => string;
  /** Position up to which an earlier server has recognized all words, and their segments. */
  readonly earlier: { readonly settledSample: number; readonly segments: () => readonly LiveSegment[] } | null;
  readonly emit: (event: LiveEvent) => void;
  /** Called when all words up to a sample are final. */
  readonly onSettled: () => void;
  readonly onFailure: (operation: "detection" | "recognition" | "speakers", error: unknown) => void;
  /** Called when the engine fails again and again. */
  readonly onBroken: () => void;
  readonly onPass: (seconds: number) => void;
  readonly newId: () => string;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

/** The work on a session's sound: detects speech, recognizes words and finds speakers, each with one operation at a time. */
export class SessionWork {
  readonly #options: SessionWorkOptions;
  readonly #stopping = new AbortController();
  readonly #turns: TurnKeeper;
  readonly #language: LiveLanguage;
  readonly #recognition: Recognition;
  readonly #speakers: LiveSpeakers;
  readonly #detecting: Pump;
  readonly #recognizing: Pump;
  readonly #comparing: Pump;
  readonly #done = Promise.withResolvers<void>();
  #isEnding = false;
  #failures = 0;
  #retry: NodeJS.Timeout | null = null;

  constructor(options: SessionWorkOptions) {
    this.#options = options;
    const { sound, models, earlier, newId, emit } = options;
    const { signal } = this.#stopping;
    const area = new LiveArea({
      ...options,
      levels: sound.levels,
      sampleCount: () => sound.sampleCount,
      encoderOf: models.knownEncoderOf,
      signal,
    });
    this.#language = new LiveLanguage(
      { models, detect: (span, model) => area.detectLanguage(span, model) },
      options.language,
    );
    this.#speakers = new LiveSpeakers({
      embed: (spans) => area.embed(spans),
      onSpeaker: (segments, speaker) => options.text.setSpeaker(segments, speaker),
    });
    this.#turns = new TurnKeeper({
      rules: options.rules,
      firstSample: earlier?.settledSample ?? 0,
      newId,
      emit,
      onTurn: (turn) => this.#recognition.addTurn(turn),
      onPassage: (passage) => this.#recognition.addPassage(passage),
      onEnd: () => this.#recognizing.wake(),
    });
    this.#recognition = this.#createRecognition(area);
    const watch = new SpeechWatch(area, this.#turns);
    this.#detecting = this.#pump("detection", async () => {
      const hasAdded = await watch.step();
      if (hasAdded) this.#recognizing.wake();
      return hasAdded;
    });
    this.#recognizing = this.#pump("recognition", () => this.#recognition.step());
    let isRestored = earlier === null;
    this.#comparing = this.#pump("speakers", async () => {
      if (isRestored) return await this.#speakers.step();
      isRestored = true;
      await this.#speakers.restore((earlier?.segments() ?? []).flatMap(withSpeaker));
      return true;
    });
    if (earlier !== null) this.#detecting.wake();
  }

  /** The sample before which all words are final. A later server continues there. */
  get settledSample(): number {
    return this.#recognition.finalSample ?? this.#turns.settledSample;
  }

  /** Duration of the sound whose speech is not detected yet, or whose words are behind. */
  get aheadSeconds(): number {
    const first = Math.min(
      this.#recognition.backlogSample ?? Number.POSITIVE_INFINITY,
      sampleOf(this.#turns.nextFrame),
    );
    return Math.max(0, this.#options.sound.sampleCount - first) / SAMPLE_RATE;
  }

  /** Whether words of the sound so far may depend on the sound after it. */
  get awaitsSound(): boolean {
    return this.#turns.isSpeaking || !this.#recognition.isIdle;
  }

  /** Sound has arrived. */
  wake(): void {
    this.#detecting.wake();
  }

  /** @throws {LiveError} `empty_turn` */
  commit(): void {
    this.#turns.commit(this.#options.sound.sampleCount);
    this.#recognition.hurry(this.#options.sound.sampleCount);
    this.#wakeAll();
  }

  clear(): void {
    this.#turns.clear(this.#options.sound.sampleCount);
    this.#recognition.drop(this.#options.sound.sampleCount);
    this.#wakeAll();
  }

  /** Changes the rules for turns, and the pinned language, from the next turn on. */
  change(rules: TurnRules | null, language: string | null): void {
    this.#turns.setRules(rules);
    this.#language.pin(language);
  }

  /** No sound follows for a while: ends the open turn. */
  endSound(): void {
    this.#turns.endSound(this.#options.sound.sampleCount);
    this.#recognition.hurry(this.#options.sound.sampleCount);
    this.#wakeAll();
  }

  /** No sound follows at all. @returns a promise that resolves when all words are final and compared, or after `stop` */
  end(): Promise<void> {
    this.#isEnding = true;
    this.endSound();
    this.#endIfDone();
    return this.#done.promise;
  }

  /** Aborts the operations in progress, and starts no more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the live session has ended"));
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#done.resolve();
    await Promise.all([this.#detecting.stop(), this.#recognizing.stop(), this.#comparing.stop()]);
  }

  #createRecognition(area: LiveArea): Recognition {
    const { text, vocabulary, onSettled, onFailure } = this.#options;
    return new Recognition({
      area,
      language: this.#language,
      vocabulary,
      nextFrame: () => this.#turns.nextFrame,
      onFinal: (passage, words) => {
        const segments = text.add(passage.turn, words);
        for (const segment of segments) this.#speakers.add(passage, segment);
        if (segments.length > 0) this.#comparing.wake();
      },
      onPartial: (turn, words) => text.showPartial(turn, words),
      onPassageEnd: () => {
        this.#speakers.endPassage();
        this.#comparing.wake();
        onSettled();
      },
      onTurnEnd: (turn) => text.endTurn(turn),
      onFault: (error) => onFailure("recognition", error),
    });
  }

  #pump(operation: "detection" | "recognition" | "speakers", step: () => Promise<boolean>): Pump {
    const counted = async () => {
      const hasWorked = await step();
      if (hasWorked) this.#failures = 0;
      else this.#endIfDone();
      return hasWorked;
    };
    return new Pump(counted, (error) => {
      this.#options.onFailure(operation, error);
      if (operation === "speakers") this.#speakers.skip();
      this.#failures += 1;
      if (this.#failures >= MAX_FAILURES) this.#options.onBroken();
      else this.#retry ??= setTimeout(() => this.#wakeAfterFailure(), RETRY_MILLISECONDS);
    });
  }

  #wakeAfterFailure(): void {
    this.#retry = null;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const pump of [this.#detecting, this.#recognizing, this.#comparing]) pump.wake();
  }

  #endIfDone(): void {
    if (!this.#isEnding || this.#turns.boundaryFrame !== null) return;
    if (this.#recognition.isIdle && this.#speakers.isIdle) this.#done.resolve();
  }
}

function withSpeaker(segment: LiveSegment) {
  const speaker = segment.speaker === null ? null : speakerNumber(segment.speaker);
  return speaker === null ? [] : [{ speaker, span: segment }];
}
