import type { Span } from "../../../timeline/index.ts";
import type { NativePiece, NativeSegment, NativeTranscript } from "./addon.ts";
import type { WhisperSegment, WhisperWord } from "./types.ts";
import { wordTimes } from "./word-times.ts";
import { groupWords } from "./words.ts";

/** Converts the native transcript to segments with timed words; segments without text are left out. */
export function toSegments(transcript: NativeTranscript, samples: Float32Array): WhisperSegment[] {
  const grouped = transcript.segments
    .map((segment) => ({ segment, words: groupWords(segment.pieces, transcript.language) }))
    .filter(({ words }) => words.length > 0);
  const spans = wordTimes(
    grouped.flatMap(({ segment, words }) => words.map((word) => ({ pieces: word.pieces, segment }))),
    samples,
  );
  let next = 0;
  return grouped.map(({ segment, words }) => {
    const timed = words.map((word) => toWord(word.text, word.pieces, spans[next++]));
    return toSegment(segment, timed);
  });
}

function toWord(text: string, pieces: NativePiece[], span: Span | undefined): WhisperWord {
  const probability = pieces.reduce((sum, piece) => sum + piece.probability, 0) / pieces.length;
  return { text, startSeconds: span?.startSeconds ?? 0, endSeconds: span?.endSeconds ?? 0, probability };
}

function toSegment(segment: NativeSegment, words: WhisperWord[]): WhisperSegment {
  return {
    startSeconds: words.at(0)?.startSeconds ?? 0,
    endSeconds: words.at(-1)?.endSeconds ?? 0,
    text: words.map((word) => word.text).join(""),
    noSpeechProbability: segment.noSpeechProbability,
    averageLogProbability: segment.averageLogProbability,
    words,
  };
}
