import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { available } from "../../../../harness/checkout.ts";
import { tinyModel } from "../../../../harness/parakeet/random-model.ts";
import { softwareGpu } from "../../../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { referenceModel, transcribeByReference } from "../../../support/parakeet/index.ts";
import { canTranscribe, nativeDirectory, readSamples } from "../../../support/whisper.ts";
import { encoderError, recognizeWith, writeModel } from "./support.ts";

const what = "Parakeet on a software device for Vulkan";
const vulkan = "libggml-vulkan.so";
const canRun = canTranscribe(what, "formats/jfk.flac") && available(what, join(nativeDirectory, vulkan));
const gpu = canRun ? await softwareGpu(what) : null;

/** The device compiles its kernels at first use and keeps them in the cache. That takes two minutes without optimization. */
const compiledWithin = 1_200_000;
const unoptimized = { GALLIVM_PERF: "nopt" };

describe.skipIf(gpu === null)("Parakeet on Vulkan", () => {
  test(
    "computes the tokens, frames, durations and encoder output of the reference",
    async () => {
      using directory = temporaryDirectory();
      const model = writeModel(directory.path);
      const reference = referenceModel(tinyModel);
      const speech = await readSamples("formats/jfk.flac");
      const clips = { phrase: speech.slice(0, 48_000), sentence: speech };
      for (const [name, samples] of Object.entries(clips)) {
        writeFileSync(join(directory.path, `${name}.f32`), new Uint8Array(samples.buffer));
      }
      const device = { library: vulkan, environment: { ...gpu, ...unoptimized } };
      const recognitions = await recognizeWith("libggml-cpu-x64.so", model, directory.path, device);
      expect(recognitions).toHaveLength(4);
      for (const { clip, steps, encoded: found } of recognitions) {
        const samples = clip === "phrase.f32" ? clips.phrase : clips.sentence;
        const result = transcribeByReference(reference, samples);
        const expected = result.encoded.values;
        expect(steps).toEqual(result.tokens.map(({ id, frame, duration }) => [id, frame, duration]));
        expect(found.length).toBe(expected.length);
        expect(encoderError([{ encoded: found, expected }]).largest).toBeLessThan(1e-3);
      }
    },
    compiledWithin,
  );
});
