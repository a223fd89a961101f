import type { Engine } from "../../engine/index.ts";
import type { SpeechModel } from "../../models/index.ts";
import type { EngineWord, Span, WorkArea } from "../../timeline/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { FrameLevels } from "../sound/index.ts";
import type { LiveModel } from "./live-language.ts";

/** The engine, as sessions use it. */
export type LiveEngine = Pick<Engine, "run">;

interface LiveAreaOptions {
  readonly engine: LiveEngine;
  readonly directory: string;
  readonly path: string;
  readonly levels: FrameLevels;
  /** Returns the number of samples in the file. */
  readonly sampleCount: () => number;
  /** Returns the path of the ONNX form of a model's encoder, if it is known to be better than the model's own. */
  readonly encoderOf: (model: SpeechModel, signal: AbortSignal) => Promise<string | null | undefined>;
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

  /** Recognizes the words of a span after the known ones. They have times from the start of the session. */
  async transcribe(
    span: Span,
    { model, code }: LiveModel,
    vocabulary: string,
    known: readonly EngineWord[],
  ): Promise<readonly EngineWord[]> {
    const { engine, encoderOf, signal, onPass, clock } = this.#options;
    const encoder = await encoderOf(model, signal);
    const startedAt = clock();
    const params = { area: this.#area(), span, model: model.path, language: code, ...(encoder && { encoder }) };
    const hints = {
      ...(vocabulary === "" ? {} : { vocabulary }),
      ...(known.length === 0 ? {} : { known: [...known] }),
    };
    const { words } = await engine.run("transcribeLive", { ...params, ...hints }, signal);
    onPass((clock() - startedAt) / 1000);
    return words;
  }

  /** Returns the probability of each language in a span, by the codes of a model. */
  async detectLanguage(span: Span, model: SpeechModel): Promise<Readonly<Record<string, number>>> {
    const { engine, encoderOf, signal } = this.#options;
    const encoder = await encoderOf(model, signal);
    const params = { area: this.#area(), span, model: model.path, ...(encoder && { encoder }) };
    return (await engine.run("detectLiveLanguage", params, signal)).probabilities;
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
