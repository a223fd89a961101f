import { keepToSpeech } from "./keep-to-speech.ts";
import type { Chunk, Result } from "./protocol.ts";
import type { WhisperSegment } from "./whisper/index.ts";

type Utterance = Result<"transcribe">["utterances"][number];

/** What whisper heard in a chunk's samples, 16 kHz mono, with the times of the recording. */
export function toUtterances(
  segments: readonly Pick<WhisperSegment, "words" | "noSpeechProbability" | "averageLogProbability">[],
  chunk: Chunk,
  samples: Float32Array,
): Utterance[] {
  const words = segments.flatMap((segment) => segment.words);
  const shifted = words.map((word) => ({
    ...word,
    startSeconds: word.startSeconds + chunk.startSeconds,
    endSeconds: word.endSeconds + chunk.startSeconds,
  }));
  const kept = keepToSpeech(shifted, chunk, samples);
  let next = 0;
  return segments.map(({ noSpeechProbability, averageLogProbability, words: { length } }) => {
    const own = kept.slice(next, next + length);
    next += length;
    return { noSpeechProbability, averageLogProbability, words: own };
  });
}
