import { Type } from "@sinclair/typebox";
import { type EngineWord, embeddingSchema, spanSchema, type Turn } from "../engine/index.ts";
import { assignSpeakers } from "./assign-speakers.ts";
import { heardSpan, piecesToHear, turnsHeardAgain } from "./second-hearing.ts";
import type { TrackContext } from "./tracks.ts";

/** Pieces of one checkpoint: about a second's work. */
const partPieces = 16;

const partSchema = Type.Object({ spans: Type.Array(spanSchema), embeddings: Type.Array(embeddingSchema) });

/**
 * The turns once more, now that it is known where sentences begin and end: each is heard by itself, and given to another
 * where its voice is clearly that one's. The first hearing goes by windows, in which two voices may be taken for one.
 */
export async function hearAgain(
  context: TrackContext,
  words: readonly EngineWord[],
  turns: readonly Turn[],
): Promise<readonly Turn[]> {
  const { pcm, engine, signal, checkpoints } = context;
  const pieces = piecesToHear(assignSpeakers(words, turns));
  const voices: number[][] = [];
  while (voices.length < pieces.length) {
    signal.throwIfAborted();
    const part = voices.length / partPieces;
    const spans = pieces.slice(voices.length, voices.length + partPieces).map(heardSpan);
    const stored = checkpoints.read("hearing", part, partSchema);
    // One that was written for other words is of no use.
    if (stored !== null && Bun.deepEquals(stored.spans, spans)) {
      voices.push(...stored.embeddings);
    } else {
      const { embeddings } = await engine.run("embedSpans", { pcm, spans }, signal);
      checkpoints.write("hearing", part, partSchema, { spans, embeddings });
      voices.push(...embeddings);
    }
    context.progress(voices.length / pieces.length);
  }
  return turnsHeardAgain(turns, pieces, voices);
}
