import { expect, test } from "bun:test";
import type { Passes } from "../../../tools/bench/gpu-passes.ts";
import { gpuReport, ratiosOf } from "../../../tools/bench/gpu-report.ts";
import type { TransformersSpeed } from "../../../tools/bench/transformers-whisper.ts";

const passes = (changes: Partial<Passes>): Passes => ({
  ...{ lanes: 8, slots: 8, beams: 5, speed: 100, graphs: 90, steps: 80, rowsPerStep: 31.5, gpuBytes: 2 ** 30 },
  ...changes,
});
const theirs = (changes: Partial<TransformersSpeed>): TransformersSpeed => ({
  ...{ batch: 8, beams: 5, tokens: 220, seconds: 2, speed: 120, bytes: 2 ** 30 },
  ...changes,
});
const figures = {
  passes: [
    {
      ...{ gpu: "CUDA0", name: "a GPU", model: "large" },
      passes: [passes({}), passes({ lanes: 32, slots: 32, speed: 300 }), passes({ beams: 1, speed: 400 })],
    },
    { gpu: "CUDA0", name: "a GPU", model: "base", passes: [passes({ speed: 900 })] },
    { gpu: "VULKAN0", name: "a GPU", model: "large", passes: [passes({ lanes: 1, slots: 1, speed: 60 })] },
  ],
  speakers: [],
  recordings: [{ device: "cuda", atOnce: 5, audioSeconds: 2000, seconds: 10 }],
  transformers: { about: "transformers 5", speeds: [theirs({}), theirs({ batch: 32, speed: 150 })] },
};

test("the best speeds of the same model with as many beams are compared, on each GPU", () => {
  const found = ratiosOf(figures, "large").map(({ gpu, beams, ratio }) => [gpu, beams, ratio]);
  // Greedy, transformers was not measured.
  expect(found).toEqual([
    ["CUDA0", 5, 2],
    ["VULKAN0", 5, 0.4],
  ]);
});

const nothing = { gpu: "CUDA0", name: "a GPU", model: "large", passes: [] };

test("the report has a table for each GPU and model, and the ratios", () => {
  const report = gpuReport(figures, "large");
  for (const expected of [
    /CUDA0 \(a GPU\), base\n/,
    /beam 5 +32 +together +300\.0 +1024 +90 +80 +31\.5/,
    /beam 5 +1 +alone +60\.0 +1024 +90$/m,
    /greedy +8 +together +400\.0/,
    /cuda +5 +10\.0 +200\.0/,
    /beam 5 +32 +220 +150\.0/,
    "CUDA0, beam 5: 300.0 × real time with 32 at once, transformers 150.0 × with batches of 32: 2.00 times as fast",
  ]) {
    if (typeof expected === "string") expect(report).toContain(expected);
    else expect(report).toMatch(expected);
  }
  expect(
    gpuReport({ passes: [nothing], recordings: [], speakers: [], transformers: { about: null, speeds: [] } }, "large"),
  ).toBe("");
});
