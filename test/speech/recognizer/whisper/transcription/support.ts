import type { WhisperSegment, WhisperState, WhisperWord } from "../../../../../src/speech/recognizer/whisper/types.ts";

/** Returns the words of a text, evenly spread over a time, with equal probability. */
export function spread(text: string, startSeconds: number, endSeconds: number, probability = 0.9): WhisperWord[] {
  const parts = text.split(" ");
  const seconds = (endSeconds - startSeconds) / parts.length;
  return parts.map((part, index) => ({
    text: ` ${part}`,
    startSeconds: startSeconds + index * seconds,
    endSeconds: startSeconds + (index + 1) * seconds,
    probability,
  }));
}

/** Returns a segment with these words. */
export function segmentOf(words: WhisperWord[], noSpeechProbability = 0.01): WhisperSegment {
  return {
    text: words.map((word) => word.text).join(""),
    noSpeechProbability,
    averageLogProbability: -0.2,
    words,
  };
}

/** Returns a state that returns scripted segments, call by call, and records the calls. */
export function scriptedState(...answers: WhisperSegment[][]) {
  const calls: { seconds: number; withTimestamps: boolean }[] = [];
  const state: Pick<WhisperState, "transcribe" | "detectLanguage"> = {
    detectLanguage: () => {
      throw new Error("nobody asked for another language");
    },
    transcribe: async (samples, { withoutTimestamps }) => {
      calls.push({ seconds: samples.length / 16_000, withTimestamps: withoutTimestamps !== true });
      const segments = answers[calls.length - 1];
      if (segments === undefined) throw new Error(`call ${calls.length} is one too many`);
      return { aborted: false, segments };
    },
  };
  return { state, calls };
}

/** Returns the text of words, or of utterances. */
export function textOf(parts: readonly ({ text: string } | { words: readonly { text: string }[] })[]): string {
  const words = parts.flatMap((part) => ("words" in part ? part.words : [part]));
  return words
    .map(({ text }) => text)
    .join("")
    .trim();
}
