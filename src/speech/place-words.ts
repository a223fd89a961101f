import { type Chunk, type Span, SpeechClock, shifted } from "../timeline/index.ts";
import { keepToSpeech } from "./keep-to-speech.ts";

/**
 * Words that whisper heard in a chunk, where they were said in the recording.
 * @param words in order, in seconds from the beginning of what was heard
 * @param pieces the chunk's that were heard
 * @param samples the pieces', joined, 16 kHz mono
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

/** Words are kept to speech as it was heard, then put where it is in the recording. */
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
