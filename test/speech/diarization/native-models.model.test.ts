import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available } from "../../../harness/checkout.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { WINDOW_SAMPLES } from "../../../src/blocks/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { addonFile, loadGgml, onnxLibraryOf } from "../../../src/runtimes/index.ts";
import {
  type DiarizationModels,
  embedAll,
  openDiarizationModels,
  type SpeakerModelAddon,
  segment,
} from "../../../src/speech/diarization/models.ts";

const { nativeDirectory, onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
const files = [join(nativeDirectory, addonFile), segmentationModel, embeddingModel];
const paths = { onnxBinding, segmentationModel, embeddingModel };

describe.if(available("speaker models in the addon", ...files))("the addon's speaker models", () => {
  const next = randomNumbers(1);
  const noise = (samples: number) => Float32Array.from({ length: samples }, () => 0.2 * (next() - 0.5));
  let own: DiarizationModels;
  let packaged: DiarizationModels;

  beforeAll(async () => {
    const addon = loadGgml({ nativeDirectory }).addon as SpeakerModelAddon;
    own = await openDiarizationModels({ ...paths, addon, threads: 1 });
    packaged = await openDiarizationModels({ ...paths, threads: 1 });
  });
  afterAll(async () => {
    await Promise.all([own, packaged].map((models) => models?.dispose()));
  });

  test("compute the package's numbers, bit for bit, also for several callers at once", async () => {
    const windows = Array.from({ length: 4 }, () => noise(2 * WINDOW_SAMPLES));
    const spans = [12_800, 16_000, 12_800, 20_001].map(noise);
    const activity = Promise.all(windows.map((two) => segment(own, two, { streams: 2 })));
    const voices = Promise.all([embedAll(own, spans), embedAll(own, spans)]);
    for (const [at, two] of windows.entries()) {
      expect((await activity)[at]).toEqual(await segment(packaged, two, { streams: 2 }));
    }
    const expected = await embedAll(packaged, spans);
    expect(await voices).toEqual([expected, expected]);
  });

  test("leave the event loop free while they compute", async () => {
    let isComputed = false;
    const activity = segment(own, noise(8 * WINDOW_SAMPLES), { streams: 8 }).then(() => {
      isComputed = true;
    });
    for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isComputed).toBe(false);
    await activity;
  });

  const waveform = new Float32Array(WINDOW_SAMPLES);
  const faults: [string, string, { data: Float32Array; dims: number[] }, string][] = [
    [
      "fewer samples than their shape has",
      "waveform",
      { data: waveform.subarray(1), dims: [1, WINDOW_SAMPLES] },
      "activity",
    ],
    ["a negative shape", "waveform", { data: waveform, dims: [-1, -WINDOW_SAMPLES] }, "activity"],
    ["an unknown input", "sound", { data: waveform, dims: [1, WINDOW_SAMPLES] }, "activity"],
    ["an unknown output", "waveform", { data: waveform, dims: [1, WINDOW_SAMPLES] }, "silence"],
  ];
  test.each(faults)("refuse %s, and go on", async (_name, name, input, output) => {
    const { SpeakerModel } = loadGgml({ nativeDirectory }).addon as SpeakerModelAddon;
    const model = new SpeakerModel({ library: onnxLibraryOf(onnxBinding), model: segmentationModel, threads: 1 });
    const noisy = { name: "noisy", data: Float32Array.of(0), dims: [1] };
    await expect(model.run([{ name, ...input }, noisy], output)).rejects.toThrow();
    const right = [{ name: "waveform", data: waveform, dims: [1, WINDOW_SAMPLES] }, noisy];
    expect((await model.run(right, "activity")).dims).toEqual([1, 293, 3]);
    model.dispose();
  });

  test("complete a running call after they are released, and take no other", async () => {
    const addon = loadGgml({ nativeDirectory }).addon as SpeakerModelAddon;
    const models = await openDiarizationModels({ ...paths, addon, threads: 1 });
    const running = segment(models, new Float32Array(WINDOW_SAMPLES));
    await models.dispose();
    expect(await running).toHaveLength(293 * 3);
    await expect(segment(models, new Float32Array(WINDOW_SAMPLES))).rejects.toThrow("disposed");
  });

  test.each(["segmentationModel", "embeddingModel"] as const)("name a damaged %s, and what to do", async (part) => {
    const addon = loadGgml({ nativeDirectory }).addon as SpeakerModelAddon;
    const damaged = join(import.meta.dir, "recording.ts");
    const opened = openDiarizationModels({ ...paths, [part]: damaged, addon, threads: 1 });
    await expect(opened).rejects.toThrow(`cannot load the model ${damaged}: `);
    await expect(opened).rejects.toThrow('Check it with "transcribe models verify"');
  });
});
