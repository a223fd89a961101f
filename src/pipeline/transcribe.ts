import { Type } from "@sinclair/typebox";
import {
  type Chunk,
  type EngineWord,
  heardPieces,
  type Language,
  type Span,
  secondsOf,
  wordSchema,
} from "../engine/index.ts";
import type { Speech } from "./speech.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackContext } from "./tracks.ts";

const wordsSchema = Type.Object({ words: Type.Array(wordSchema) });

/**
 * transcribe: the words of every chunk, in order. A finished chunk is stored and never done again.
 * @param model path of the whisper model
 * @param languageOf what to transcribe a chunk in
 */
export async function transcribe(
  context: TrackContext,
  chunks: readonly Chunk[],
  model: string,
  languageOf: (chunk: Speech) => Promise<Language>,
): Promise<EngineWord[]> {
  const { engine, pcm, signal, checkpoints, recording } = context;
  if (chunks.length === 0) return [];
  const { vocabulary } = recording;
  const how = { pcm, model, ...(vocabulary === null ? {} : { vocabulary }) };
  await forEachMissingPart(context, "transcribe", chunks.length, async (part) => {
    const chunk = chunks[part] as Chunk;
    const { whisperCode } = await languageOf({ pcm, span: longestPiece(chunk) });
    const result = await engine.run("transcribe", { ...how, chunk, language: whisperCode }, signal);
    checkpoints.write("transcribe", part, wordsSchema, result);
  });
  return chunks.flatMap((_, part) => {
    const chunk = checkpoints.read("transcribe", part, wordsSchema);
    if (chunk === null) throw new Error(`the words of chunk ${part} are not in their checkpoint`);
    return chunk.words;
  });
}

/** What is heard of a chunk at a stretch; of one side of a call, the most that it says without the other in between. */
function longestPiece(chunk: Chunk): Span {
  return heardPieces(chunk).reduce((longest, piece) => (secondsOf(piece) > secondsOf(longest) ? piece : longest));
}
