import { alignWords } from "../../../harness/align-words.ts";
import { plainWords } from "../../../harness/wer.ts";

/** A part of a track. */
export interface Piece {
  readonly kind: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Reference text; empty when nobody speaks, null when it is unknown. */
  readonly text: string | null;
}

/** A word that was recognized, with its time. */
export interface RecognizedWord {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** A word that is spoken in a track. */
export interface SpokenWord {
  /** In lower case, without punctuation. */
  readonly text: string;
  /** Index of its piece. */
  readonly piece: number;
  /** Time before which it is not spoken. */
  readonly earliestSeconds: number;
  /** Null when it is unknown. */
  readonly endSeconds: number | null;
}

/**
 * Returns the words of a track. Their times are those of equal words in a batch transcript, which is aligned with the
 * reference: there are no other times of words. If the text of a piece is unknown, the transcript replaces it.
 */
export function spokenWords(pieces: readonly Piece[], transcript: readonly RecognizedWord[]): SpokenWord[] {
  return pieces.flatMap((piece, index) => {
    const recognized = transcript
      .filter(({ startSeconds, endSeconds }) => {
        const middle = (startSeconds + endSeconds) / 2;
        return middle >= piece.startSeconds && middle < piece.endSeconds;
      })
      .flatMap((word) => plainWords(word.text).map((text) => ({ ...word, text })));
    const said = piece.text === null ? recognized.map(({ text }) => text) : plainWords(piece.text);
    const pairs = new Map(
      alignWords(
        said,
        recognized.map(({ text }) => text),
      ),
    );
    let earliestSeconds = piece.startSeconds;
    return said.map((text, at): SpokenWord => {
      const paired = pairs.get(at);
      const found = paired === undefined ? undefined : recognized[paired];
      if (found?.text !== text) return { text, piece: index, earliestSeconds, endSeconds: null };
      const word = { text, piece: index, earliestSeconds: found.startSeconds, endSeconds: found.endSeconds };
      earliestSeconds = found.endSeconds;
      return word;
    });
  });
}

/** Returns the text of each piece in a transcript, which is aligned with the words of the track. */
export function textsOfPieces(pieces: readonly Piece[], spoken: readonly SpokenWord[], text: string): string[] {
  // Whitespace separates words, so that the parts keep the digits and signs that plain words lack.
  const heard = text.split(/\s+/).flatMap((whole) => {
    const plain = plainWords(whole);
    return plain.map((word, index) => ({ word, whole: index === 0 ? whole : "" }));
  });
  const pairs = new Map(
    alignWords(
      spoken.map((word) => word.text),
      heard.map(({ word }) => word),
    ).map(([said, at]) => [at, said]),
  );
  const texts: string[][] = pieces.map(() => []);
  let piece = 0;
  for (const [at, { whole }] of heard.entries()) {
    const said = pairs.get(at);
    if (said !== undefined) piece = spoken[said]?.piece ?? piece;
    if (whole !== "") texts[piece]?.push(whole);
  }
  return texts.map((words) => words.join(" "));
}
