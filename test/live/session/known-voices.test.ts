import { describe, expect, test } from "bun:test";
import { KnownVoices } from "../../../src/live/session/known-voices.ts";

/** Returns a voice of unit length, with a similarity to the first axis. */
const voice = (axis: number, similarity = 1) => {
  const embedding = new Float32Array(8);
  embedding[axis] = similarity;
  embedding[7] = Math.sqrt(1 - similarity ** 2);
  return embedding;
};

describe("the voices of a session", () => {
  test("are numbered in order of appearance, and known again", () => {
    const voices = new KnownVoices();
    const heard = [voice(0), voice(1), voice(0, 0.6), voice(2), voice(1, 0.5)].map((one) => voices.speakerOf(one, 2));
    expect(heard).toEqual([1, 2, 1, 3, 2]);
  });

  test("are not new in short speech, which may resemble none", () => {
    const voices = new KnownVoices();
    expect(voices.knownSpeakerOf(voice(0))).toBeNull();
    voices.speakerOf(voice(0), 2);
    expect(voices.knownSpeakerOf(voice(0, 0.4))).toBe(1);
    expect(voices.knownSpeakerOf(voice(1))).toBeNull();
    expect(voices.speakerOf(voice(1), 2)).toBe(2);
  });

  test("learn from clear speech, weighted by its duration", () => {
    const voices = new KnownVoices();
    voices.speakerOf(voice(0), 1);
    // Closer to the learned voice than to the first speech.
    voices.speakerOf(voice(0, 0.7), 20);
    expect(voices.knownSpeakerOf(voice(0, 0))).toBe(1);
  });

  test("of an earlier server keep their numbers", () => {
    const voices = new KnownVoices();
    voices.restore(4, voice(0), 5);
    expect(voices.speakerOf(voice(0), 2)).toBe(4);
    expect(voices.speakerOf(voice(1), 2)).toBe(5);
  });

  test("are at most fifty: then the most similar one is taken", () => {
    const voices = new KnownVoices();
    for (let number = 1; number <= 50; number++) {
      const embedding = new Float32Array(60);
      embedding[number] = 1;
      expect(voices.speakerOf(embedding, 2)).toBe(number);
    }
    const another = new Float32Array(60);
    another[59] = 1;
    expect(voices.speakerOf(another, 2)).toBeLessThanOrEqual(50);
  });
});
