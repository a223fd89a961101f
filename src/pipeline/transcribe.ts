import { Type } from "@sinclair/typebox";
import { type EngineWord, type Language, type Span, utteranceSchema } from "../engine/index.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackContext } from "./tracks.ts";

const chunkSchema = Type.Object({ utterances: Type.Array(utteranceSchema) });

/**
 * transcribe: the words of every chunk, in order. A finished chunk is stored and never done again.
 * @param model path of the whisper model
 */
export async function transcribe(
  context: TrackContext,
  chunks: readonly Span[],
  model: string,
  language: Language,
): Promise<EngineWord[]> {
  const { engine, pcm, signal, checkpoints, recording } = context;
  if (chunks.length === 0) return [];
  const { vocabulary } = recording;
  const how = { pcm, model, language: language.whisperCode, ...(vocabulary === null ? {} : { vocabulary }) };
  await forEachMissingPart(context, "transcribe", chunks.length, async (part) => {
    const span = chunks[part] as Span;
    const result = await engine.run("transcribe", { ...how, span }, signal);
    checkpoints.write("transcribe", part, chunkSchema, result);
  });
  return chunks.flatMap((_, part) => {
    const chunk = checkpoints.read("transcribe", part, chunkSchema);
    if (chunk === null) throw new Error(`the words of chunk ${part} are not in their checkpoint`);
    return chunk.utterances.flatMap((utterance) => utterance.words);
  });
}
