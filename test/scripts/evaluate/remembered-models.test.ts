import { expect, test } from "bun:test";
import { rememberResults } from "../../../tools/evaluate/remembered-models.ts";

type Models = Parameters<typeof rememberResults>[0];

/** Returns models whose results are their inputs, and the number of times that the segmentation model computed. */
function countingModels() {
  let computed = 0;
  const echo: Models["embedding"] = { run: async (waveform) => waveform, release: async () => {} };
  const segmentation: Models["segmentation"] = {
    run: async (waveform) => {
      computed++;
      return waveform;
    },
    release: async () => {},
  };
  const models: Models = { segmentation, embedding: echo, dispose: async () => {} };
  return { models, computed: () => computed };
}

const sound = (data: readonly number[], dims = [1, data.length]) => ({ data: Float32Array.from(data), dims });
const noisy = (value: number) => [{ name: "noisy", data: Float32Array.of(value), dims: [1] }];

test("a model computes the same input once, also if it is part of other samples", async () => {
  const { models, computed } = countingModels();
  const { segmentation } = rememberResults(models);
  const first = await segmentation.run(sound([1, 2]), noisy(0));
  const part = { data: Float32Array.of(0, 1, 2).subarray(1), dims: [1, 2] };
  expect(await segmentation.run(part, noisy(0))).toBe(first);
  expect(computed()).toBe(1);
});

test("a model computes other samples, other dimensions, and the other network for the same samples", async () => {
  const { models, computed } = countingModels();
  const { segmentation } = rememberResults(models);
  await segmentation.run(sound([1, 2]), noisy(0));
  await segmentation.run(sound([1, 3]), noisy(0));
  await segmentation.run(sound([1, 2], [2, 1]), noisy(0));
  await segmentation.run(sound([1, 2]), noisy(1));
  expect(computed()).toBe(4);
});
