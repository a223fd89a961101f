import type { Engine } from "../../engine/index.ts";
import type { EngineWord, Span, WorkArea } from "../../timeline/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { FrameLevels } from "../sound/index.ts";
import type { LanguageDetector, LiveModel } from "./live-language.ts";

/** The engine, as sessions use it. */
export type LiveEngine = Pick<Engine, "run">;

interface LiveAreaOptions {
  readonly engine: LiveEngine;
  readonly directory: string;
  readonly path: string;
  readonly levels: FrameLevels;
  /** Returns the number of samples in the file. */
  readonly sampleCount: () => number;
  readonly signal: AbortSignal;
  /** Called with the duration of each completed pass in seconds. */
  readonly onPass: (seconds: number) => void;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

/** The operations of the engine on the sound of a session. All reject when the session's signal is aborted. */
export class LiveArea {
  readonly #options: LiveAreaOptions;

  constructor(options: LiveAreaOptions) {
    this.#options = options;
  }

  get sampleCount(): number {
    return this.#options.sampleCount();
  }

  get levels(): FrameLevels {
    return this.#options.levels;
  }

  /** Returns the probability of speech in each frame of the window that ends at a sample. */
  async detectSpeech(endSample: number): Promise<readonly number[]> {
    const { engine, signal } = this.#options;
    return (await engine.run("detectSpeech", { area: this.#area(), endSample }, signal)).probabilities;
  }

  /** Recognizes the words of a span, which have times from the start of the session. */
  async transcribe(
    span: Span,
    { path, code }: LiveModel,
    { vocabulary, isLast }: { readonly vocabulary: string; readonly isLast: boolean },
  ): Promise<readonly EngineWord[]> {
    const { engine, signal, onPass, clock } = this.#options;
    const startedAt = clock();
    // Only the model's own encoder computes less than 30 s.
    const params = { area: this.#area(), span, model: path, language: code, isLast };
    const hints = vocabulary === "" ? {} : { vocabulary };
    const { words } = await engine.run("transcribeLive", { ...params, ...hints }, signal);
    onPass((clock() - startedAt) / 1000);
    return words;
  }

  /** Returns the probability of each language in a span, by the model's codes. */
  async detectLanguage(span: Span, { path, encoder }: LanguageDetector): Promise<Readonly<Record<string, number>>> {
    const { engine, signal } = this.#options;
    const model = { model: path, ...(encoder === null ? {} : { encoder }) };
    const params = { area: this.#area(), chunk: { ...span, speech: [span] }, ...model };
    return (await engine.run("detectLanguage", params, signal)).probabilities;
  }

  /** Returns the embedding of the voice in spans of one speaker, of unit length. */
  async embed(spans: readonly Span[]): Promise<Float32Array> {
    const { engine, signal } = this.#options;
    const plain = spans.map(({ startSeconds, endSeconds }) => ({ startSeconds, endSeconds }));
    const { embedding } = await engine.run("embedSpeech", { area: this.#area(), spans: plain }, signal);
    return Float32Array.from(embedding);
  }

  #area(): WorkArea {
    const { directory, path, sampleCount } = this.#options;
    return { directory, pcm: { path, sampleCount: sampleCount() } };
  }
}

/** Returns the span between two samples. */
export function spanOf(startSample: number, endSample: number): Span {
  return { startSeconds: startSample / SAMPLE_RATE, endSeconds: endSample / SAMPLE_RATE };
}
