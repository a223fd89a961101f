import type { SpokenWord } from "../../src/pipeline/assign-speakers.ts";
import type { EngineWord } from "../../src/timeline/index.ts";

/** Returns consecutive words from `startSeconds` on, one second long by default, with whisper's leading spaces. */
export function wordsFrom(startSeconds: number, text: string, secondsEach = 0.3): EngineWord[] {
  return text.split(" ").map((word, index) => ({
    text: ` ${word}`,
    startSeconds: startSeconds + index * secondsEach,
    endSeconds: startSeconds + (index + 1) * secondsEach,
    probability: 0.9,
  }));
}

export function spoken(speaker: number, words: readonly EngineWord[]): SpokenWord[] {
  return words.map((word) => ({ ...word, speaker }));
}
