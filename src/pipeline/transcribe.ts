import { type Static, Type } from "@sinclair/typebox";
import type { Checkpoints } from "../recordings/index.ts";
import { joinTerms } from "../text/index.ts";
import { type Chunk, type EngineWord, wordSchema } from "../timeline/index.ts";
import type { BoundModel } from "./bind-model.ts";
import { yieldToEventLoop } from "./concurrency.ts";
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
  readonly model: Pick<BoundModel, "path" | "encoder">;
  /** Splits a chunk into parts and returns the language of each. */
  readonly partsOf: (chunk: TrackChunk) => Promise<readonly SpeechPart[]>;
  /** Whether the language may change within such a part. */
  readonly mayChangeLanguage: boolean;
}

/** Number of chunks whose checkpoints are read before yielding to the event loop. */
const CHUNKS_PER_YIELD = 20;

/**
 * Runs the step `transcribe`: recognizes the words of every chunk and stores them, see readWords.
 * @returns the number of words, and the seconds of each chunk's words by the model's language codes
 */
export async function transcribe(
  context: TrackContext,
  chunks: readonly Chunk[],
  { model, partsOf, mayChangeLanguage }: TranscriptionPlan,
) {
  const { engine, area, signal, checkpoints, recording } = context;
  const found = { wordCount: 0, languages: [] as Static<typeof languagesSchema>[] };
  if (chunks.length === 0) return found;
  // Whisper drops the beginning of a vocabulary that is too long, so the recording's own terms come last.
  const vocabulary = joinTerms([recording.vocabulary ?? "", recording.prompt ?? ""]);
  const { path, encoder } = model;
  const params = {
    ...{ area, model: path, mayChangeLanguage },
    ...(encoder === null ? {} : { encoder }),
    ...(vocabulary === "" ? {} : { vocabulary }),
  };
  await forEachMissingPart(context, "transcribe", chunks.length, async (part) => {
    const result = { words: [] as EngineWord[], languages: {} as Record<string, number> };
    for (const { chunk, language } of await partsOf({ area, chunk: chunks[part] as Chunk })) {
      const read = await engine.run("transcribe", { ...params, chunk, language: language.modelCode }, signal);
      result.words.push(...read.words);
      for (const [code, seconds] of Object.entries(read.languages)) {
        result.languages[code] = (result.languages[code] ?? 0) + seconds;
      }
    }
    checkpoints.write("transcribe", part, wordsSchema, result);
  });
  for (const part of chunks.keys()) {
    if (part % CHUNKS_PER_YIELD === 0) await yieldToEventLoop(signal);
    const { words, languages = {} } = readWords(checkpoints, part);
    found.wordCount += words.length;
    found.languages.push(languages);
  }
  return found;
}

/** Returns the words of a transcribed chunk, in order, and their languages. */
export function readWords(checkpoints: Checkpoints, part: number): Static<typeof wordsSchema> {
  const chunk = checkpoints.read("transcribe", part, wordsSchema);
  if (chunk === null) throw new Error(`the words of chunk ${part} are not in their checkpoint`);
  return chunk;
}
