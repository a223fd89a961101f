import { type Chunk, type Span, SpeechClock, shifted } from "../timeline/index.ts";
import { keepToSpeech } from "./keep-to-speech.ts";

/**
 * Maps the words of a chunk's transcript to their times in the recording.
 * @param words in order, in seconds from the start of the joined fragments
 * @param pieces the fragments of the chunk that the recognizer got
 * @param samples of the joined fragments, 16 kHz mono
 */
export function placeWords<W extends Span>(
  words: readonly W[],
  chunk: Chunk,
  pieces: readonly Span[],
  samples: Float32Array,
): W[] {
  if (pieces.length > 1) return inPieces(words, chunk, pieces, samples);
  const inRecording = words.map((word) => shifted(word, chunk.startSeconds));
  return keepToSpeech(inRecording, chunk, samples);
}

/** Keeps words to speech on the joined fragments' time line, then maps them to the recording. */
function inPieces<W extends Span>(
  words: readonly W[],
  chunk: Chunk,
  pieces: readonly Span[],
  samples: Float32Array,
): W[] {
  const clock = new SpeechClock(pieces, chunk);
  const speech = chunk.speech.map(({ startSeconds, endSeconds }) => ({
    startSeconds: clock.at(startSeconds),
    endSeconds: clock.at(endSeconds),
  }));
  const heard = { startSeconds: 0, endSeconds: clock.totalSeconds, speech };
  return keepToSpeech(words, heard, samples).map((word) => ({ ...word, ...clock.when(word) }));
}
