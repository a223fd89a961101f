import { expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { buildSegments, mergeTracks } from "../../src/pipeline/build-segments.ts";
import { fitSegments, fitWords } from "../../src/pipeline/fit-to-turns.ts";
import type { Segment } from "../../src/segments/index.ts";
import type { EngineWord, Turn } from "../../src/timeline/index.ts";

const durationSeconds = 120;
const texts = [
  " and",
  " Yes.",
  " so,",
  " three",
  " million",
  " Dr.",
  " Smith",
  " why?",
  "的",
  " …",
  " a-very-long-word",
];

/** Returns words like the engine's: in order, without overlaps, at least 20 ms long, with pauses of all kinds. */
function someWords(random: () => number): EngineWord[] {
  const words: EngineWord[] = [];
  const longestPause = random() * 6;
  let at = random() < 0.3 ? 0 : random() * 10;
  while (at < durationSeconds - 0.1) {
    const startSeconds = at;
    at = Math.min(durationSeconds, at + 0.02 + random() ** 3 * 2);
    const text = texts[Math.floor(random() * texts.length)] ?? "";
    words.push({ text, startSeconds, endSeconds: at, probability: random() });
    if (random() < 0.3) at += random() * longestPause;
  }
  return words;
}

/** Returns turns like those of diarization: those of one speaker do not overlap, those of different speakers may. */
function someTurns(random: () => number): Turn[] {
  const speakers = Math.floor(random() * 5);
  const turns: Turn[] = [];
  for (let speaker = 0; speaker < speakers; speaker++) {
    for (let at = random() * 20; at < durationSeconds; at += 0.5 + random() * 15) {
      const endSeconds = Math.min(durationSeconds, at + 0.05 + random() * 12);
      turns.push({ startSeconds: at, endSeconds, speaker });
      at = endSeconds;
    }
  }
  return turns.sort((a, b) => a.startSeconds - b.startSeconds);
}

function check(segments: readonly Segment[], words: readonly EngineWord[]): void {
  const ends = new Map<number, number>();
  let before = 0;
  for (const [index, segment] of segments.entries()) {
    expect(segment.index).toBe(index);
    expect(segment.startSeconds).toBeGreaterThanOrEqual(before);
    expect(segment.endSeconds).toBeGreaterThan(segment.startSeconds);
    expect(segment.endSeconds).toBeLessThanOrEqual(durationSeconds);
    expect(segment.startSeconds).toBeGreaterThanOrEqual(ends.get(segment.speaker) ?? 0);
    before = segment.startSeconds;
    ends.set(segment.speaker, segment.endSeconds);
    let reached = segment.startSeconds;
    for (const word of segment.words) {
      expect(word.startSeconds).toBeGreaterThanOrEqual(reached);
      reached = word.endSeconds;
    }
    expect(segment.endSeconds).toBeGreaterThanOrEqual(reached);
  }
  const told = segments.flatMap((segment) => segment.words.map(({ startSeconds }) => startSeconds));
  expect(told.sort((a, b) => a - b)).toEqual(words.map(({ startSeconds }) => startSeconds).sort((a, b) => a - b));
}

test("segments are in order, within the recording, contain all words, and never reach into the same speaker's next one", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomNumbers(seed);
    const tracks = Array.from({ length: 1 + (seed % 2) }, () => ({
      heard: someWords(random),
      turns: someTurns(random),
    })).map(({ heard, turns }) => ({ words: fitWords(heard, turns), turns }));
    const { segments } = mergeTracks(
      tracks.map(({ words, turns }) => fitSegments(buildSegments(assignSpeakers(words, turns)), turns)),
    );
    check(
      segments,
      tracks.flatMap(({ words }) => words),
    );
  }
});
