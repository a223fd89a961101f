import { expect, test } from "bun:test";
import { HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../../src/blocks/index.ts";
import { BlockActivity } from "../../../src/speech/diarization/activity.ts";
import { localVoices } from "../../../src/speech/diarization/clean-speech.ts";

/** Windows of a recording in which local speakers speak in frames `[start, end)` of it. */
function activityOf(windows: number, ...spoken: [local: number, start: number, end: number][]): BlockActivity {
  const probabilities = new Float32Array(windows * WINDOW_FRAMES * LOCAL_SPEAKERS);
  for (let window = 0; window < windows; window++) {
    for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
      const at = window * HOP_FRAMES + frame;
      for (const [local, start, end] of spoken) {
        if (at >= start && at < end) probabilities[(window * WINDOW_FRAMES + frame) * LOCAL_SPEAKERS + local] = 1;
      }
    }
  }
  return BlockActivity.fromProbabilities(0, probabilities);
}

const frames = (...spans: [start: number, end: number][]) => spans.map(([start, end]) => ({ start, end }));

const piecesOf = (activity: BlockActivity, window: number, pauses: readonly number[] = []) =>
  localVoices(activity, window, pauses).map((voice) => voice.fragments);

test("speech is cut at pauses, so that windows that overlap share its fragments", () => {
  const activity = activityOf(2, [0, 40, 400]);
  const pauses = [40, 100, 170, 260, 330, 420];
  const [first, second] = [piecesOf(activity, 0, pauses)[0], piecesOf(activity, 1, pauses)[0]];
  expect(first).toEqual(frames([40, 100], [100, 170], [170, 260], [260, 330]));
  expect(second).toEqual(frames([40, 100], [100, 170], [170, 260], [260, 330], [330, 420]));
});

test("long speech without a pause is cut where windows start", () => {
  expect(piecesOf(activityOf(1, [0, 40, 400]), 0)).toEqual([frames([40, 90], [90, 180], [180, 293])]);
  expect(piecesOf(activityOf(1, [0, 40, 180]), 0)).toEqual([frames([40, 180])]);
});

test("a short fragment is merged into its neighbour, and one cut off by the window is left to the next window", () => {
  expect(piecesOf(activityOf(1, [0, 80, 190]), 0, [90, 180])).toEqual([frames([80, 190])]);
  expect(piecesOf(activityOf(1, [0, 180, 400]), 0, [270])).toEqual([frames([180, 270])]);
});

test("overlapped speech is in no fragment and not clean", () => {
  const [one, other] = localVoices(activityOf(1, [0, 0, 90], [1, 50, 140]), 0, []);
  expect(one).toMatchObject({ local: 0, cleanFrames: 50, fragments: frames([0, 50]), scraps: [] });
  expect(other).toMatchObject({ local: 1, cleanFrames: 50, fragments: frames([90, 140]), scraps: [] });
});

test("short words are joined, and without clean speech all speech is joined", () => {
  expect(localVoices(activityOf(1, [0, 0, 20], [0, 30, 50]), 0, [])).toMatchObject([
    {
      cleanFrames: 40,
      fragments: [],
      scraps: frames([0, 20], [30, 50]),
    },
  ]);
  expect(localVoices(activityOf(1, [0, 0, 90], [1, 0, 90]), 0, [])).toMatchObject([
    { cleanFrames: 0, fragments: [], scraps: frames([0, 90]) },
    { cleanFrames: 0, fragments: [], scraps: frames([0, 90]) },
  ]);
});

test("a click is not a voice", () => {
  expect(localVoices(activityOf(1, [0, 10, 15]), 0, [])).toEqual([]);
});
