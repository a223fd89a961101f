import { keepToSpeech } from "./keep-to-speech.ts";
import type { Chunk, Result, Span } from "./protocol.ts";
import { SpeechClock } from "./speech-clock.ts";
import type { WhisperSegment } from "./whisper/index.ts";

type Utterance = Result<"transcribe">["utterances"][number];

/**
 * What whisper heard in a chunk, with the times of the recording.
 * @param pieces the chunk's that it heard
 * @param samples the pieces', joined, 16 kHz mono
 */
export function toUtterances(
  segments: readonly Pick<WhisperSegment, "words" | "noSpeechProbability" | "averageLogProbability">[],
  chunk: Chunk,
  pieces: readonly Span[],
  samples: Float32Array,
): Utterance[] {
  const words = segments.flatMap((segment) => segment.words);
  const kept = pieces.length > 1 ? inPieces(words, chunk, pieces, samples) : inOne(words, chunk, samples);
  let next = 0;
  return segments.map(({ noSpeechProbability, averageLogProbability, words: { length } }) => {
    const own = kept.slice(next, next + length);
    next += length;
    return { noSpeechProbability, averageLogProbability, words: own };
  });
}

function inOne<W extends Span>(words: readonly W[], chunk: Chunk, samples: Float32Array): W[] {
  const shifted = words.map((word) => ({
    ...word,
    startSeconds: word.startSeconds + chunk.startSeconds,
    endSeconds: word.endSeconds + chunk.startSeconds,
  }));
  return keepToSpeech(shifted, chunk, samples);
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
