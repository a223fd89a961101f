import { expect, setDefaultTimeout, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { HOP_FRAMES, WINDOW_FRAMES } from "../../../src/blocks/index.ts";
import { cluster } from "../../../src/speech/diarization/index.ts";
import { unit } from "../../../src/speech/diarization/similarity.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";
import { withBlocks } from "./fake-recording.ts";

setDefaultTimeout(60_000);

const EMBEDDING_SIZE = 192;

/** A voice of its own for each of ten people. */
const voices = Array.from({ length: 10 }, (_, person) => {
  const next = randomNumbers(person + 100);
  return Float32Array.from({ length: EMBEDDING_SIZE }, () => next() - 0.5);
});

/** Frames of a turn: a whole number of windows' steps, so that turns change between windows. */
const TURN_FRAMES = 10 * HOP_FRAMES;

function fakeTalk(hours: number, speakerOf: (turn: number, turns: number) => number) {
  const frames = Math.round((hours * 3600) / 0.016875 / TURN_FRAMES) * TURN_FRAMES;
  const turns = frames / TURN_FRAMES;
  const isPause = (frame: number) => frame % TURN_FRAMES >= TURN_FRAMES - 2 * HOP_FRAMES;
  const speaker = (frame: number) => speakerOf(Math.floor(frame / TURN_FRAMES), turns);
  const voicesOf = (window: number): Voice[] => {
    const first = window * HOP_FRAMES;
    const middle = first + Math.floor(WINDOW_FRAMES / 2);
    if (isPause(middle)) return [];
    const noise = randomNumbers(window + 1);
    const embedding = unit((voices[speaker(middle)] as Float32Array).map((value) => value + 0.6 * (noise() - 0.5)));
    return [{ window, local: 0, cleanFrames: 200, fragments: [{ start: first, end: first + 200, embedding }] }];
  };
  const activity = (frame: number, local: number) => (local === 0 && !isPause(frame) ? 1 : 0);
  return { frames, activity, voices: voicesOf };
}

test("a voice keeps its number over hours in which only others speak", async () => {
  const speakerOf = (turn: number, turns: number) => (turn < 20 || turn >= turns - 20 ? 0 : 1 + (turn % 3));
  const found = await withBlocks(fakeTalk(3, speakerOf), cluster);
  expect(new Set(found.map((turn) => turn.speaker))).toEqual(new Set([0, 1, 2, 3]));
  expect(found[0]?.speaker).toBe(0);
  expect(found.at(-1)?.speaker).toBe(0);
  expect(found[Math.floor(found.length / 2)]?.speaker).not.toBe(0);
});

test("one voice stays one speaker, however long it speaks", async () => {
  const found = await withBlocks(
    fakeTalk(2, () => 0),
    cluster,
  );
  expect(new Set(found.map((turn) => turn.speaker))).toEqual(new Set([0]));
});

test("a speaker of half a minute in two hours is found", async () => {
  const speakerOf = (turn: number, turns: number) => (turn >= turns / 2 && turn < turns / 2 + 3 ? 9 : turn % 2);
  const found = await withBlocks(fakeTalk(2, speakerOf), cluster);
  expect(new Set(found.map((turn) => turn.speaker)).size).toBe(3);
});

test("silence has no turns", async () => {
  const silence = { frames: 10_000, activity: () => 0 };
  expect(await withBlocks(silence, cluster)).toEqual([]);
});
