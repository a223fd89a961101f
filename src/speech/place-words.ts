import { type Chunk, type Span, SpeechClock, shifted } from "../timeline/index.ts";
import { findSilences } from "./silences.ts";

/**
 * Maps the words of a chunk's transcript to their times in the recording.
 * @param words in order, in seconds from the start of the joined fragments, which are `spans` of the chunk
 * @param samples of the joined fragments, 16 kHz mono
 */
export function placeWords<W extends Span>(
  words: readonly W[],
  chunk: Chunk,
  spans: readonly Span[],
  samples: Float32Array,
): W[] {
  if (spans.length > 1) return inJoinedSpans(words, chunk, spans, samples);
  const inRecording = words.map((word) => shifted(word, chunk.startSeconds));
  return keepToSpeech(inRecording, chunk, samples);
}

/** Keeps words to speech on the joined fragments' time line, then maps them to the recording. */
function inJoinedSpans<W extends Span>(
  words: readonly W[],
  chunk: Chunk,
  spans: readonly Span[],
  samples: Float32Array,
): W[] {
  const clock = new SpeechClock(spans, chunk);
  const speech = chunk.speech.map(({ startSeconds, endSeconds }) => ({
    startSeconds: clock.at(startSeconds),
    endSeconds: clock.at(endSeconds),
  }));
  const joined = { startSeconds: 0, endSeconds: clock.totalSeconds, speech };
  return keepToSpeech(words, joined, samples).map((word) => ({ ...word, ...clock.recordingSpan(word) }));
}

/**
 * Maximum by which a detected speech span is extended within the sound around it. Half of the phrases of the built
 * dialogues and of German readings were detected within 0.1 s of their start, some 0.5 s late.
 */
const marginSeconds = 0.5;

/** Minimum duration of a word, unless there are too many words for the available speech. */
const shortestSeconds = 0.02;

/**
 * Moves words out of the silences between a chunk's speech spans, which are up to 2 s long: in noise no pause can be
 * detected, and alignment then lets words start and end in these silences. Words stay in order and disjoint, and only
 * words shorter than 20 ms become longer.
 */
export function keepToSpeech<W extends Span>(words: readonly W[], chunk: Chunk, samples: Float32Array): W[] {
  const silences = findSilences(samples).map((silence) => shifted(silence, chunk.startSeconds));
  const clock = new SpeechClock(silences.length === 0 ? chunk.speech : withItsSound(chunk.speech, silences), chunk);
  const shortest = Math.min(shortestSeconds, clock.totalSeconds / words.length);
  let reached = 0;
  return words.map((word, index) => {
    // Latest end of this word that leaves each later word its minimum duration.
    const latest = clock.totalSeconds - (words.length - 1 - index) * shortest;
    const startSeconds = Math.min(Math.max(reached, clock.at(word.startSeconds)), latest - shortest);
    const endSeconds = Math.max(startSeconds + shortest, Math.min(clock.at(word.endSeconds), latest));
    reached = endSeconds;
    return { ...word, ...clock.recordingSpan({ startSeconds, endSeconds }) };
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
