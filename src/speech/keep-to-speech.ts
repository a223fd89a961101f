import { type Chunk, type Span, SpeechClock, shifted } from "../timeline/index.ts";
import { findSilences } from "./recognizer/whisper/index.ts";

/**
 * Speech that was found reaches on in the sound that it lies in, but no further than this: of the phrases of the built
 * dialogues and of German readings half were found within 0.1 s of their start, but some 0.5 s late.
 */
const marginSeconds = 0.5;

/** No word is shorter, unless there is more than one for so much speech. */
const shortestSeconds = 0.02;

/**
 * Moves words out of the silences between the speech of a chunk, which are up to 2 s long: where no pause can be heard for
 * noise, alignment lets words begin and end in them. Words stay in order and apart, and none gets longer but those of
 * less than 20 ms.
 * @param words in order and apart, in seconds from the recording's start, as the chunk's and its speech
 * @param samples the chunk's, 16 kHz mono
 */
export function keepToSpeech<W extends Span>(words: readonly W[], chunk: Chunk, samples: Float32Array): W[] {
  const silences = findSilences(samples).map((silence) => shifted(silence, chunk.startSeconds));
  const clock = new SpeechClock(silences.length === 0 ? chunk.speech : withItsSound(chunk.speech, silences), chunk);
  const shortest = Math.min(shortestSeconds, clock.totalSeconds / words.length);
  let reached = 0;
  return words.map((word, index) => {
    // What is left for this word when those after it have their least.
    const latest = clock.totalSeconds - (words.length - 1 - index) * shortest;
    const startSeconds = Math.min(Math.max(reached, clock.at(word.startSeconds)), latest - shortest);
    const endSeconds = Math.max(startSeconds + shortest, Math.min(clock.at(word.endSeconds), latest));
    reached = endSeconds;
    return { ...word, ...clock.when({ startSeconds, endSeconds }) };
  });
}

function withItsSound(speech: readonly Span[], silences: readonly Span[]): Span[] {
  return speech.map(({ startSeconds, endSeconds }) => {
    const isSilentAt = (seconds: number) =>
      silences.some((silence) => silence.startSeconds <= seconds && silence.endSeconds >= seconds);
    const before = silences.findLast((silence) => silence.endSeconds < startSeconds)?.endSeconds ?? 0;
    const after = silences.find((silence) => silence.startSeconds > endSeconds)?.startSeconds;
    return {
      startSeconds: isSilentAt(startSeconds) ? startSeconds : Math.max(before, startSeconds - marginSeconds),
      endSeconds: isSilentAt(endSeconds)
        ? endSeconds
        : Math.min(after ?? Number.POSITIVE_INFINITY, endSeconds + marginSeconds),
    };
  });
}
