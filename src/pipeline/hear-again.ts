import { Type } from "@sinclair/typebox";
import { heardLength } from "../speech/index.ts";
import { hasBlock, type Span, spanSchema, type Turn } from "../timeline/index.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";
import { othersTurn } from "./others-turn.ts";
import { type Piece, piecesToHear, turnsHeardAgain } from "./second-hearing.ts";
import type { TrackContext } from "./tracks.ts";

/** Fragments per checkpoint: about one second of work. */
const blockPieces = 16;

const blockSchema = Type.Object({ spans: Type.Array(spanSchema) });

/**
 * Runs the second pass of speaker diarization, which uses the sentence boundaries of the transcript. It compares the
 * voice of each sentence fragment that may have a wrong speaker, and reassigns the fragment if another speaker clearly
 * matches. The first pass works on windows, in which two voices may be taken for one.
 *
 * The worker keeps voice embeddings in files of the work directory and compares them there. The embeddings of 18 hours
 * of audio therefore do not load the server, and no voice data reaches a database or a backup.
 * @param said all sentence fragments, in order, with speakers by the turns
 * @param turns in order of their starts
 */
export async function hearAgain(
  context: TrackContext,
  said: readonly Piece[],
  turns: readonly Turn[],
): Promise<readonly Turn[]> {
  const { area, engine, signal, checkpoints } = context;
  await othersTurn(signal);
  const pieces = piecesToHear(said);
  if (pieces.length === 0) return turns;
  const blocks = Math.ceil(pieces.length / blockPieces);
  let heard = 0;
  await forEachAtOnce(
    Array(blocks).keys(),
    () => engine.partsAtOnce,
    async (block) => {
      await othersTurn(signal);
      const spans = pieces.slice(block * blockPieces, (block + 1) * blockPieces).map(spanOf);
      // Embeddings of other spans are useless. (Checkpoints of earlier versions have another name.)
      const isHeard = Bun.deepEquals(checkpoints.read("sentences", block, blockSchema)?.spans, spans);
      if (!isHeard || !(await hasBlock(area, "sentences", block))) {
        await engine.run("embedSentences", { area, spans, block }, signal);
        checkpoints.write("sentences", block, blockSchema, { spans });
      }
      heard += 1;
      context.progress(heard / blocks);
    },
  );
  const sentences = pieces.map((piece) => ({ speaker: piece.speaker, seconds: heardLength(piece) }));
  const { speakers } = await engine.run("compareSentences", { area, sentences }, signal);
  await othersTurn(signal);
  return turnsHeardAgain(turns, pieces, speakers);
}

function spanOf({ startSeconds, endSeconds }: Piece): Span {
  return { startSeconds, endSeconds };
}
