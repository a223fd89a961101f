import type { WhisperSegment, WhisperState, WhisperWord } from "../../../src/engine/whisper/index.ts";

/** Words of a text, evenly spread over a time, all of one probability. */
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

/** A segment of such words. */
export function segmentOf(words: WhisperWord[], noSpeechProbability = 0.01): WhisperSegment {
  return {
    startSeconds: words[0]?.startSeconds ?? 0,
    endSeconds: words.at(-1)?.endSeconds ?? 0,
    text: words.map((word) => word.text).join(""),
    noSpeechProbability,
    averageLogProbability: -0.2,
    words,
  };
}

/** A state that writes what it is told, call by call, and notes how it was asked. */
export function scriptedState(...answers: WhisperSegment[][]) {
  const calls: { seconds: number; withTimestamps: boolean }[] = [];
  const state: Pick<WhisperState, "transcribe"> = {
    transcribe: async (samples, { withoutTimestamps, language }) => {
      calls.push({ seconds: samples.length / 16_000, withTimestamps: withoutTimestamps !== true });
      const segments = answers[calls.length - 1];
      if (segments === undefined) throw new Error(`call ${calls.length} is one too many`);
      return { language, aborted: false, segments };
    },
  };
  return { state, calls };
}

/** Sound with pauses: noise at the times named, near silence elsewhere. */
export function soundAt(seconds: number, ...stretches: [number, number][]): Float32Array {
  let seed = 1;
  return Float32Array.from({ length: seconds * 16_000 }, (_, at) => {
    seed = (seed * 48_271) % 2_147_483_647;
    const isSound = stretches.some(([from, to]) => at >= from * 16_000 && at < to * 16_000);
    return (seed / 2_147_483_647 - 0.5) * (isSound ? 0.4 : 0.0004);
  });
}
