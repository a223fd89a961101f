import { test } from "bun:test";
import { compareOnVulkan, compiledWithin, gpu } from "./compare-on-vulkan.ts";

test.skipIf(gpu === null)(
  "Parakeet on Vulkan computes the reference's tokens, frames, durations and encoder output of a word",
  () => compareOnVulkan(8_000),
  compiledWithin,
);
