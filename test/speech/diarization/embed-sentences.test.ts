import { describe, expect, test } from "bun:test";
import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { frameSeconds, HOP_FRAMES, WINDOW_FRAMES } from "../../../src/blocks/index.ts";
import { embedSentences, voiceWithin } from "../../../src/speech/diarization/embed-sentences.ts";
import type { DiarizationModels } from "../../../src/speech/diarization/index.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { withBlocks } from "./fake-recording.ts";

const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });

describe("the voice within a sentence", () => {
  const fragment = (start: number, end: number, ...embedding: number[]) => ({
    start,
    end,
    embedding: Float32Array.from(embedding),
  });
  const [at100, at280] = [frameSeconds(100), frameSeconds(280)];
  const two = [fragment(100, 190, 1, 0), fragment(190, 280, 0, 1)];
  const both = [Math.SQRT1_2, Math.SQRT1_2];

  test.each([
    ["of the fragments that it is made of", two, both],
    ["by their lengths", [fragment(100, 220, 0.8, 0), fragment(220, 280, 0, 1.2)], [0.8, 0.6]],
    ["of what windows have heard twice", [...two, ...two], both],
    ["without what lies outside it", [fragment(0, 90, -1, 0), ...two, fragment(280, 370, -1, 0)], both],
    ["without what reaches far out of it", [fragment(60, 190, -1, 0), ...two], both],
  ])("is the mean %s", (_name, fragments, expected) => {
    const voice = voiceWithin(span(at100, at280), fragments);
    expect([...(voice ?? [])].map((value) => value.toFixed(3))).toEqual(expected.map((value) => value.toFixed(3)));
  });

  test.each([
    ["without fragments", []],
    ["with a fragment of half of it", [fragment(100, 190, 1, 0)]],
    ["with half of it twice", [fragment(100, 190, 1, 0), fragment(100, 190, 1, 0)]],
    ["with joined scraps alone", [fragment(100, 100, 1, 0)]],
    ["that is a part of a fragment", [fragment(80, 300, 1, 0)]],
  ])("is not known of one %s", (_name, fragments) => {
    expect(voiceWithin(span(at100, at280), fragments)).toBeNull();
  });

  test("is known for a long sentence by the length that would be embedded", () => {
    expect(voiceWithin(span(at100, at100 + 30), two)).not.toBeNull();
  });
});

describe("sentences", () => {
  /** A voice is how long the sound is, and how loud. */
  const models = (): DiarizationModels & { heard: number } => {
    const fake = {
      heard: 0,
      embedding: {
        run: async (waveform: { data: Float32Array; dims: number[] }) => {
          const [batch = 0, samples = 0] = waveform.dims;
          fake.heard += batch;
          const loudness = (index: number) => Math.abs(waveform.data[index * samples] ?? 0);
          const data = Float32Array.from({ length: 2 * batch }, (_, index) =>
            index % 2 === 0 ? samples : Math.round(10 * loudness((index - 1) / 2)) / 10,
          );
          return { data, dims: [batch, 2] };
        },
      },
    };
    return fake as unknown as DiarizationModels & { heard: number };
  };
  /** Somebody speaks all the time; the windows' voices say so up to the second minute, which is in the second block. */
  const talk = {
    frames: 12_000,
    activity: (_frame: number, local: number) => (local === 0 ? 1 : 0),
    voices: (window: number): Voice[] => {
      const start = window * HOP_FRAMES;
      if (start > 7_800) return [];
      const fragments = [0, 1, 2].map((cell) => ({
        start: start + cell * HOP_FRAMES,
        end: start + (cell + 1) * HOP_FRAMES,
        embedding: Float32Array.from([1, 0]),
      }));
      return [{ window, local: 0, cleanFrames: WINDOW_FRAMES, fragments }];
    },
    amplitude: (frame: number) => (frame < 10_500 ? 0.2 : 0.6),
  };
  const known = [1, 0];

  test("are embedded only where their voices are unknown, and in their middle where they are long", async () => {
    await withBlocks(talk, async (area) => {
      const fake = models();
      const sentences = [span(10, 20), span(119, 124), span(150, 151), span(160, 170), span(185, 200)];
      const voices = await embedSentences(fake, area, sentences);
      expect(voices.map((voice) => [...voice].map((value) => Number(value.toFixed(1))))).toEqual([
        known,
        known,
        [SAMPLE_RATE, 0.2],
        [2.5 * SAMPLE_RATE, 0.2],
        [2.5 * SAMPLE_RATE, 0.6],
      ]);
      expect(fake.heard).toBe(3);
    });
  });

  test.each([
    ["deleted", (file: string) => rmSync(file)],
    ["cut short", (file: string) => truncateSync(file, 100)],
  ])("are all embedded in a block whose file was %s", async (_name, harm) => {
    await withBlocks(talk, async (area) => {
      harm(join(area.directory, "embeddings/000000.block"));
      const fake = models();
      await embedSentences(fake, area, [span(10, 20), span(30, 31)]);
      expect(fake.heard).toBe(2);
    });
  });
});
