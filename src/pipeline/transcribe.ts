import { type Static, Type } from "@sinclair/typebox";
import type { Checkpoints } from "../recordings/index.ts";
import { readModelLanguages } from "../speech/index.ts";
import { joinTerms } from "../text/index.ts";
import { type Chunk, type EngineWord, wordSchema } from "../timeline/index.ts";
import type { BoundModel, EncodedModel } from "./bind-model.ts";
import { yieldToEventLoop } from "./concurrency.ts";
import { contradictsLanguage } from "./contradicts-language.ts";
import type { SpeechPart } from "./language.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackChunk, TrackContext } from "./tracks.ts";

const languagesSchema = Type.Record(Type.String(), Type.Number());
const wordsSchema = Type.Object({
  words: Type.Array(wordSchema),
  /** Earlier versions did not store the languages. */
  languages: Type.Optional(languagesSchema),
});

/** How chunks are transcribed. */
export interface TranscriptionPlan {
  readonly model: Pick<BoundModel, "id" | "path" | "encoder" | "companion" | "routes">;
  /** Splits a chunk into parts and returns the language of each. */
  readonly partsOf: (chunk: TrackChunk) => Promise<readonly SpeechPart[]>;
  /** Whether the language may change within such a part. */
  readonly mayChangeLanguage: boolean;
  /** Stores together with the words of a chunk how many of its parts each model recognized, by the model's id. */
  readonly countRecognized: (parts: ReadonlyMap<string, number>) => void;
  /** Called when the words of a chunk are stored. */
  readonly onTranscribed: (part: number, words: readonly EngineWord[]) => void;
}

/** Number of chunks whose checkpoints are read before yielding to the event loop. */
const CHUNKS_PER_YIELD = 2;

/**
 * Runs the step `transcribe`: recognizes the words of every chunk and stores them, see readWords.
 * @returns the number of words, and the seconds of each chunk's words by the model's language codes
 */
export async function transcribe(
  context: TrackContext,
  chunks: readonly Chunk[],
  { model, partsOf, mayChangeLanguage, countRecognized, onTranscribed }: TranscriptionPlan,
) {
  const { area, signal, checkpoints } = context;
  const found = { wordCount: 0, languages: [] as Static<typeof languagesSchema>[] };
  if (chunks.length === 0) return found;
  const recognize = recognizerOf(context, model, mayChangeLanguage);
  await forEachMissingPart(context, "transcribe", chunks.length, async (part) => {
    const result = { words: [] as EngineWord[], languages: {} as Record<string, number> };
    const recognized = new Map<string, number>();
    for (const speech of await partsOf({ area, chunk: chunks[part] as Chunk })) {
      const { by, read } = await recognize(speech);
      recognized.set(by, (recognized.get(by) ?? 0) + 1);
      result.words.push(...read.words);
      for (const [code, seconds] of Object.entries(read.languages)) {
        result.languages[code] = (result.languages[code] ?? 0) + seconds;
      }
    }
    checkpoints.write("transcribe", part, wordsSchema, result, () => countRecognized(recognized));
    onTranscribed(part, result.words);
  });
  for (const part of chunks.keys()) {
    if (part % CHUNKS_PER_YIELD === 0) await yieldToEventLoop(signal);
    const { words, languages = {} } = readWords(checkpoints, part);
    found.wordCount += words.length;
    found.languages.push(languages);
  }
  return found;
}

/**
 * Returns a function that recognizes a part with the model for its language, and names the model whose words it returns.
 * The model that detects languages takes the part if that model does not know the language, or writes words of another
 * one.
 * @param mayChangeLanguage see TranscriptionPlan
 */
export function recognizerOf(
  { engine, area, signal, recording }: Pick<TrackContext, "engine" | "area" | "signal" | "recording">,
  model: TranscriptionPlan["model"],
  mayChangeLanguage: boolean,
) {
  // Whisper drops the beginning of a vocabulary that is too long, so the recording's own terms come last.
  const vocabulary = joinTerms([recording.vocabulary ?? "", recording.prompt ?? ""]);
  const params = { area, mayChangeLanguage, ...(vocabulary === "" ? {} : { vocabulary }) };
  const detector = model.companion ?? model;
  // Read once: the file is not needed any more while the worker has the model.
  const known = new Map(
    [model, ...model.routes]
      .filter(({ path }) => path !== detector.path)
      .map(({ path }) => [path, readModelLanguages(path)] as const),
  );
  const recognizeBy = async ({ id, path, encoder }: EncodedModel, { chunk, language }: SpeechPart) => {
    const by = { model: path, ...(encoder === null ? {} : { encoder }) };
    const how = { ...params, ...by, chunk, language: language.modelCode };
    return { by: id, read: await engine.run("transcribe", how, signal) };
  };
  return async (part: SpeechPart) => {
    const { code } = part.language;
    const own = model.routes.find(({ codes }) => codes.includes(code)) ?? model;
    const language = known.get(own.path)?.find((other) => other.code === code);
    if (language === undefined) return await recognizeBy(detector, part);
    const recognized = await recognizeBy(own, { ...part, language });
    return contradictsLanguage(recognized.read.words, code) ? await recognizeBy(detector, part) : recognized;
  };
}

/** Returns the words of a transcribed chunk, in order, and their languages. */
export function readWords(checkpoints: Checkpoints, part: number): Static<typeof wordsSchema> {
  const chunk = checkpoints.read("transcribe", part, wordsSchema);
  if (chunk === null) throw new Error(`the words of chunk ${part} are not in their checkpoint`);
  return chunk;
}
