import { type Static, Type } from "@sinclair/typebox";
import type { Checkpoints } from "../recordings/index.ts";
import { type Chunk, type EngineWord, wordSchema } from "../timeline/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { SpeechPart } from "./language.ts";
import { othersTurn } from "./others-turn.ts";
import type { Speech } from "./speech.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackContext } from "./tracks.ts";

const languagesSchema = Type.Record(Type.String(), Type.Number());
const wordsSchema = Type.Object({
  words: Type.Array(wordSchema),
  /** Earlier versions did not store the languages. */
  languages: Type.Optional(languagesSchema),
});

/** The settings with which chunks are transcribed. */
export interface Reading {
  readonly model: Pick<BoundModel, "path" | "encoder">;
  /** Splits a chunk into parts and returns the language of each. */
  readonly partsOf: (chunk: Speech) => Promise<readonly SpeechPart[]>;
  /** Whether the language may change within such a part. */
  readonly mayChangeLanguage: boolean;
}

export interface Transcribed {
  /** Number of words; the words themselves stay in their checkpoints, see wordsOfChunk. */
  readonly wordCount: number;
  /** Duration of each chunk's words in seconds, by the model's language codes. */
  readonly languages: readonly Static<typeof languagesSchema>[];
}

/** Number of chunks whose checkpoints are read before yielding to the event loop. */
const chunksAtOnce = 20;

/**
 * Runs the step `transcribe`: recognizes the words of every chunk. A finished chunk is stored and never transcribed
 * again.
 */
export async function transcribe(
  context: TrackContext,
  chunks: readonly Chunk[],
  { model, partsOf, mayChangeLanguage }: Reading,
): Promise<Transcribed> {
  const { engine, area, signal, checkpoints, recording } = context;
  if (chunks.length === 0) return { wordCount: 0, languages: [] };
  const { vocabulary } = recording;
  const { path, encoder } = model;
  const how = {
    ...{ area, model: path, mayChangeLanguage },
    ...(encoder === null ? {} : { encoder }),
    ...(vocabulary === null ? {} : { vocabulary }),
  };
  await forEachMissingPart(context, "transcribe", chunks.length, async (part) => {
    const result = { words: [] as EngineWord[], languages: {} as Record<string, number> };
    for (const { chunk, language } of await partsOf({ area, chunk: chunks[part] as Chunk })) {
      const read = await engine.run("transcribe", { ...how, chunk, language: language.modelCode }, signal);
      result.words.push(...read.words);
      for (const [code, seconds] of Object.entries(read.languages)) {
        result.languages[code] = (result.languages[code] ?? 0) + seconds;
      }
    }
    checkpoints.write("transcribe", part, wordsSchema, result);
  });
  const found = { wordCount: 0, languages: [] as Static<typeof languagesSchema>[] };
  for (const part of chunks.keys()) {
    if (part % chunksAtOnce === 0) await othersTurn(signal);
    const { words, languages = {} } = readChunk(checkpoints, part);
    found.wordCount += words.length;
    found.languages.push(languages);
  }
  return found;
}

/** Returns the words of a transcribed chunk, in order. */
export function wordsOfChunk(checkpoints: Checkpoints, part: number): EngineWord[] {
  return readChunk(checkpoints, part).words;
}

function readChunk(checkpoints: Checkpoints, part: number): Static<typeof wordsSchema> {
  const chunk = checkpoints.read("transcribe", part, wordsSchema);
  if (chunk === null) throw new Error(`the words of chunk ${part} are not in their checkpoint`);
  return chunk;
}
