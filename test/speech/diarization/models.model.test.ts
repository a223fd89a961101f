import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available } from "../../../harness/checkout.ts";
import { openModels } from "../../../harness/diarized-recording.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { programFiles } from "../../../src/program/index.ts";
import { embed, embedAll, openDiarizationModels } from "../../../src/speech/diarization/models.ts";

const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");

describe.if(available("damaged speaker models", segmentationModel, embeddingModel))("a speaker model that", () => {
  const faults: [string, (whole: Uint8Array) => Uint8Array | null][] = [
    ["is no model", () => new TextEncoder().encode("spoiled")],
    ["is empty", () => new Uint8Array()],
    ["is cut short", (whole) => whole.subarray(0, whole.length / 2)],
    ["is missing", () => null],
  ];
  test.each(faults)("the error for %s names the file and what to do", async (_name, damage) => {
    using directory = temporaryDirectory();
    for (const [part, whole] of Object.entries({
      segmentationModel: segmentationModel,
      embeddingModel: embeddingModel,
    })) {
      const path = join(directory.path, `${part}.onnx`);
      const bytes = damage(await Bun.file(whole).bytes());
      if (bytes !== null) await Bun.write(path, bytes);
      const paths = { segmentationModel: segmentationModel, embeddingModel: embeddingModel, [part]: path };
      const opened = openDiarizationModels({ onnxBinding, threads: 1, ...paths });
      await expect(opened).rejects.toThrow(`cannot load the model ${path}: `);
      await expect(opened).rejects.toThrow('Check it with "transcribe models verify"');
    }
  });
});

test.if(available("voices embedded together", embeddingModel))(
  "spans that are embedded together have the voices that they have by themselves, in their order",
  async () => {
    const models = await openModels(1);
    const next = randomNumbers(1);
    const noise = (samples: number) => Float32Array.from({ length: samples }, () => 0.2 * (next() - 0.5));
    const spans = [12_800, 16_000, 12_800, 12_800, 16_001, 12_800, 12_800, 12_800].map(noise);
    const together = await embedAll(models, spans);
    const apart: Float32Array[] = [];
    for (const span of spans) apart.push(await embed(models, span));
    expect(await embedAll(models, [])).toEqual([]);
    await models.dispose();
    expect(together).toHaveLength(spans.length);
    for (const [index, voice] of apart.entries()) {
      const difference = voice.map((value, at) => Math.abs(value - (together[index]?.[at] ?? 9)));
      expect([index, Math.max(...difference) < 1e-5]).toEqual([index, true]);
    }
  },
);
