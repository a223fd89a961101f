import { closeSync, openSync, readSync } from "node:fs";
import { FRAME_SAMPLES, frameSample, WINDOW_FRAMES, WINDOW_SAMPLES } from "../../src/blocks/index.ts";
import type { OperationName, Params, Result } from "../../src/operations/index.ts";
import { type EngineWord, SAMPLE_RATE, type Span, type WorkArea } from "../../src/timeline/index.ts";

/** Duration of a word of the scripted speech. */
export const WORD_SECONDS = 0.5;
/** Amplitudes of the voices that the scripted engine distinguishes. */
export const VOICES = [2000, 4000, 8000] as const;

type Call = { [N in OperationName]: { readonly operation: N; readonly params: Params<N> } }[OperationName];

/**
 * An engine that computes its results from the samples, without models. Sound that is louder than 1000 is speech. Each
 * half second of it is a word, `w` and its number from the start of the session. The amplitude is the voice.
 */
export class ScriptedEngine {
  readonly calls: Call[] = [];
  /** Called before each operation; may wait or throw. */
  onCall: (call: Call) => Promise<void> | void = () => {};
  /** Probabilities of languages that are detected. */
  languages: Readonly<Record<string, number>> = { en: 0.95, de: 0.05 };
  /** Those of spans up to a number of seconds. */
  shortLanguages = { seconds: 0, languages: { en: 0.4, de: 0.5 } };
  /** Numbers of the words that end a sentence. */
  sentenceEnds: readonly number[] = [];
  /** Whether a pass whose known words end with a sentence recognizes nothing, as Whisper sometimes does. */
  omitsNextSentence = false;
  woken = 0;

  wake(): void {
    this.woken += 1;
  }

  /** Returns the parameters of the calls of an operation. */
  of<N extends OperationName>(operation: N): Params<N>[] {
    return this.calls.flatMap((call) => (call.operation === operation ? [call.params as Params<N>] : []));
  }

  async run<N extends OperationName>(operation: N, params: Params<N>, signal: AbortSignal): Promise<Result<N>> {
    signal.throwIfAborted();
    const call = { operation, params } as Call;
    this.calls.push(call);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    await Promise.race([this.onCall(call), aborted.promise]);
    // As messages between processes do, a result takes a moment.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), aborted.promise]);
    return this.#answer(call) as Result<N>;
  }

  #wordsOf({ area, span, known = [] }: Params<"transcribeLive">): EngineWord[] {
    const last = known.at(-1);
    if (this.omitsNextSentence && last?.text.endsWith(".")) return [];
    const found = wordsOf(area, span).filter(({ startSeconds }) => startSeconds >= (last?.endSeconds ?? 0));
    return found.map((word) => ({ ...word, text: this.#spelled(word.text) }));
  }

  /** Returns a word with a capital letter or a full stop where sentences begin and end. */
  #spelled(text: string): string {
    const number = Number(text.slice(2));
    const begun = this.sentenceEnds.includes(number - 1) ? text.toUpperCase() : text;
    return this.sentenceEnds.includes(number) ? `${begun}.` : begun;
  }

  #languagesOf({ startSeconds, endSeconds }: Span): Readonly<Record<string, number>> {
    const { seconds, languages } = this.shortLanguages;
    return endSeconds - startSeconds <= seconds ? languages : this.languages;
  }

  #answer(call: Call): unknown {
    switch (call.operation) {
      case "detectSpeech":
        return { probabilities: probabilitiesOf(call.params) };
      case "transcribeLive":
        return { words: this.#wordsOf(call.params) };
      case "embedSpeech":
        return { embedding: embeddingOf(call.params.area, call.params.spans) };
      case "detectLiveLanguage":
        return { probabilities: this.#languagesOf(call.params.span) };
      default:
        throw new Error(`${call.operation} is not scripted`);
    }
  }
}

/** Returns sound: seconds of an amplitude, one after the other. */
export function sound(...parts: readonly (readonly [amplitude: number, seconds: number])[]): Uint8Array {
  const samples = parts.flatMap(([amplitude, seconds]) =>
    Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, (_, at) => (at % 2 === 0 ? amplitude : -amplitude)),
  );
  return new Uint8Array(Int16Array.from(samples).buffer);
}

/** Returns the names of the scripted words between two moments. */
export function words(startSeconds: number, endSeconds: number): string {
  const count = Math.round((endSeconds - startSeconds) / WORD_SECONDS);
  return Array.from({ length: count }, (_, at) => `w${Math.round(startSeconds / WORD_SECONDS) + at}`).join(" ");
}

function probabilitiesOf({ area, endSample }: Params<"detectSpeech">): number[] {
  const first = endSample - WINDOW_SAMPLES;
  const samples = read(area, first, WINDOW_SAMPLES);
  return Array.from({ length: WINDOW_FRAMES }, (_, frame) => {
    const from = frameSample(frame);
    return loudness(samples.subarray(from, from + FRAME_SAMPLES)) > 1000 ? 0.9 : 0.02;
  });
}

function wordsOf(area: WorkArea, { startSeconds, endSeconds }: Span): EngineWord[] {
  const found: EngineWord[] = [];
  for (
    let number = Math.ceil(startSeconds / WORD_SECONDS - 0.2);
    (number + 0.6) * WORD_SECONDS <= endSeconds;
    number++
  ) {
    const samples = read(area, Math.round(number * WORD_SECONDS * SAMPLE_RATE), WORD_SECONDS * SAMPLE_RATE);
    if (loudness(samples) < 500) continue;
    const start = (number + 0.1) * WORD_SECONDS;
    found.push({ text: ` w${number}`, startSeconds: start, endSeconds: start + 0.4, probability: 0.9 });
  }
  return found;
}

function embeddingOf(area: WorkArea, spans: readonly Span[]): number[] {
  const level = spans.map(({ startSeconds, endSeconds }) => {
    const count = Math.round((endSeconds - startSeconds) * SAMPLE_RATE);
    return loudness(read(area, Math.round(startSeconds * SAMPLE_RATE), count));
  });
  const mean = level.reduce((sum, one) => sum + one, 0) / level.length;
  const nearest = VOICES.toSorted((a, b) => Math.abs(a - mean) - Math.abs(b - mean))[0];
  return VOICES.map((voice) => (voice === nearest ? 1 : 0));
}

function loudness(samples: Int16Array): number {
  return samples.reduce((sum, sample) => sum + Math.abs(sample), 0) / Math.max(1, samples.length);
}

/** Reads samples. Before the first one, and after the last one of the request, there is silence. */
function read({ pcm }: WorkArea, first: number, count: number): Int16Array {
  const samples = new Int16Array(count);
  const from = Math.max(0, first);
  const end = Math.min(first + count, pcm.sampleCount);
  if (end <= from) return samples;
  const bytes = Buffer.alloc(2 * (end - from));
  const file = openSync(pcm.path, "r");
  try {
    readSync(file, bytes, 0, bytes.length, 2 * from);
  } finally {
    closeSync(file);
  }
  samples.set(new Int16Array(bytes.buffer, bytes.byteOffset, end - from), from - first);
  return samples;
}
