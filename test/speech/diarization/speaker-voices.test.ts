import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { frameSeconds } from "../../../src/blocks/index.ts";
import { speakerVoices } from "../../../src/speech/diarization/index.ts";
import { type Voice, writeVoices } from "../../../src/speech/diarization/voices.ts";
import { SAMPLE_RATE, type Turn } from "../../../src/timeline/index.ts";

const anna = Float32Array.of(1, 0, 0);
const ben = Float32Array.of(0, 1, 0);

/** Returns the voice of a local speaker in a window, with one fragment. */
const voice = (embedding: Float32Array, start: number, end: number, local = 0): Voice => {
  return { window: Math.floor(start / 90), local, cleanFrames: end - start, fragments: [{ start, end, embedding }] };
};
const turn = (speaker: number, start: number, end: number): Turn => {
  return { startSeconds: frameSeconds(start), endSeconds: frameSeconds(end), speaker };
};

/** Returns the voices of the speakers of a recording of one block. */
async function found(voices: readonly Voice[], turns: readonly Turn[]) {
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm: { path: "/", sampleCount: 20 * SAMPLE_RATE } };
  await writeVoices(area, 0, 0, voices);
  return await speakerVoices(area, turns);
}

test("a speaker's voice is the mean of the fragments in the speaker's own turns, by their lengths", async () => {
  const voices = [voice(anna, 0, 90), voice(ben, 100, 130), voice(ben, 200, 320)];
  const [first, second, ...others] = await found(voices, [turn(4, 0, 135), turn(7, 195, 330)]);
  expect(others).toEqual([]);
  expect([first?.speaker, second?.speaker]).toEqual([4, 7]);
  expect(first?.embedding[0] ?? 0).toBeCloseTo(3 / Math.sqrt(10), 5);
  expect(first?.embedding[1] ?? 0).toBeCloseTo(1 / Math.sqrt(10), 5);
  expect(first?.seconds ?? 0).toBeCloseTo(frameSeconds(120) - frameSeconds(0), 5);
  expect([...(second?.embedding ?? [])]).toEqual([0, 1, 0]);
});

test("speech in which somebody else speaks as well is left out, also where a turn is only partly the speaker's", async () => {
  const voices = [voice(anna, 0, 90), voice(ben, 100, 190), voice(ben, 300, 390)];
  const overlapped = await found(voices, [turn(0, 0, 195), turn(1, 120, 160), turn(0, 340, 400)]);
  expect(overlapped).toEqual([
    { speaker: 0, seconds: expect.closeTo(frameSeconds(90) - frameSeconds(0), 5), embedding: anna },
  ]);
});

test("a moment that several windows cover counts once", async () => {
  const voices = [voice(anna, 90, 180), voice(anna, 90, 180, 1), voice(anna, 135, 225)];
  const [only] = await found(voices, [turn(0, 80, 230)]);
  expect(only?.seconds ?? 0).toBeCloseTo(frameSeconds(225) - frameSeconds(90), 5);
});

test("a speaker without clean speech has no voice, and neither has a recording without turns", async () => {
  const scraps: Voice = {
    ...{ window: 0, local: 0, cleanFrames: 0 },
    fragments: [{ start: 0, end: 0, embedding: anna }],
  };
  expect(await found([scraps], [turn(0, 0, 90)])).toEqual([]);
  expect(await found([voice(anna, 0, 90)], [])).toEqual([]);
});
