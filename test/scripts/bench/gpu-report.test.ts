import { expect, test } from "bun:test";
import type { Passes } from "../../../tools/bench/gpu-passes.ts";
import { gpuReport } from "../../../tools/bench/gpu-report.ts";

const passes = (changes: Partial<Passes>): Passes => ({
  ...{ lanes: 8, slots: 8, beams: 5, speed: 100, graphs: 90, steps: 80, rowsPerStep: 31.5, gpuBytes: 2 ** 30 },
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
};

const nothing = { gpu: "CUDA0", name: "a GPU", model: "large", passes: [] };

test("the report has a table for each GPU and model", () => {
  const report = gpuReport(figures);
  for (const expected of [
    /CUDA0 \(a GPU\), base\n/,
    /beam 5 +32 +together +300\.0 +1024 +90 +80 +31\.5/,
    /beam 5 +1 +alone +60\.0 +1024 +90$/m,
    /greedy +8 +together +400\.0/,
    /cuda +5 +10\.0 +200\.0/,
  ]) {
    expect(report).toMatch(expected);
  }
  expect(gpuReport({ passes: [nothing], recordings: [], speakers: [] })).toBe("");
});
