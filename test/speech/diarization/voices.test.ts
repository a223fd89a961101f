import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { writeBlock } from "../../../src/blocks/index.ts";
import { readVoices, type Voice, wholeVoice, writeVoices } from "../../../src/speech/diarization/voices.ts";

const fragment = (start: number, end: number, ...embedding: number[]) => ({
  start,
  end,
  embedding: Float32Array.from(embedding),
});

test("voices are read as they were written, for embeddings of any size", async () => {
  const voices: Voice[] = [
    { window: 7, local: 0, cleanFrames: 200, fragments: [fragment(630, 720, 1, 0, 0), fragment(720, 810, 0, 1, 0)] },
    { window: 7, local: 2, cleanFrames: 0, fragments: [fragment(630, 630, 0, 0, 1)] },
    { window: 8, local: 2, cleanFrames: 90, fragments: [fragment(720, 810, 0, 1, 0)] },
  ];
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm: { path: "/", sampleCount: 0 } };
  await writeVoices(area, 3, 7, voices);
  expect(await readVoices(area, 3)).toEqual(voices);
  await writeVoices(area, 4, 9, []);
  expect(await readVoices(area, 4)).toEqual([]);
});

test("a block of an earlier version is refused", async () => {
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm: { path: "/", sampleCount: 0 } };
  const block = { firstWindow: 0, count: 0, recordBytes: 0, body: new Uint8Array() };
  await writeBlock(area, "embeddings", 0, "TVO1", block);
  await expect(readVoices(area, 0)).rejects.toThrow("is no TVO2 block");
});

test("a whole voice is the mean of its fragments, weighted by length", () => {
  const whole = wholeVoice({
    window: 0,
    local: 0,
    cleanFrames: 160,
    fragments: [fragment(0, 40, 1, 0), fragment(40, 70, 0, 1)],
  });
  expect([...whole]).toEqual([Math.fround(0.8), Math.fround(0.6)]);
});
