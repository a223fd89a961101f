import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { heardLength, isWholeBlock } from "../speech/index.ts";
import { type Span, spanSchema, type Turn } from "../timeline/index.ts";
import { embeddingDirectoryOf } from "./diarize.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";
import { othersTurn } from "./others-turn.ts";
import { type Piece, piecesToHear, turnsHeardAgain } from "./second-hearing.ts";
import type { TrackContext } from "./tracks.ts";

/** Pieces of one checkpoint: about a second's work. */
const blockPieces = 16;

const blockSchema = Type.Object({ spans: Type.Array(spanSchema) });

/**
 * The turns once more, now that it is known where sentences begin and end: each is heard by itself, as far as its voice isn't
 * known from the windows, and given to another where it is clearly that one's. The first hearing goes by windows, in which two
 * voices may be taken for one.
 *
 * Voices stay with the worker, which keeps them in files of the work directory and compares them there: those of 18 hours
 * are no load on the server, and voices of people get into no database and no backup.
 * @param said all that is said, in order, by the turns
 * @param turns in order of their starts
 */
export async function hearAgain(
  context: TrackContext,
  said: readonly Piece[],
  turns: readonly Turn[],
): Promise<readonly Turn[]> {
  const { pcm, engine, signal, checkpoints } = context;
  await othersTurn(signal);
  const pieces = piecesToHear(said);
  if (pieces.length === 0) return turns;
  const embeddingDirectory = embeddingDirectoryOf(context);
  const voiceDirectory = join(context.workDirectory, "sentences");
  mkdirSync(voiceDirectory, { recursive: true, mode: 0o700 });
  const blocks = Math.ceil(pieces.length / blockPieces);
  let heard = 0;
  await forEachAtOnce(
    Array(blocks).keys(),
    () => engine.partsAtOnce,
    async (block) => {
      await othersTurn(signal);
      const spans = pieces.slice(block * blockPieces, (block + 1) * blockPieces).map(spanOf);
      // What was heard for other words is of no use. (An earlier version's checkpoints have another name.)
      const isHeard = Bun.deepEquals(checkpoints.read("sentences", block, blockSchema)?.spans, spans);
      if (!isHeard || !(await isWholeBlock(voiceDirectory, block))) {
        await engine.run("embedSentences", { pcm, spans, block, embeddingDirectory, voiceDirectory }, signal);
        checkpoints.write("sentences", block, blockSchema, { spans });
      }
      heard += 1;
      context.progress(heard / blocks);
    },
  );
  const sentences = pieces.map((piece) => ({ speaker: piece.speaker, seconds: heardLength(piece) }));
  const { speakers } = await engine.run("compareSentences", { voiceDirectory, sentences }, signal);
  await othersTurn(signal);
  return turnsHeardAgain(turns, pieces, speakers);
}

function spanOf({ startSeconds, endSeconds }: Piece): Span {
  return { startSeconds, endSeconds };
}
