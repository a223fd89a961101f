import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openDiarizationModels } from "../../../src/engine/diarization/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { available } from "../../support/checkout.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");

describe.if(available("damaged speaker models", segmentationModel, embeddingModel))("a speaker model that", () => {
  const faults: [string, (whole: Uint8Array) => Uint8Array | null][] = [
    ["is no model", () => new TextEncoder().encode("spoiled")],
    ["is empty", () => new Uint8Array()],
    ["is cut short", (whole) => whole.subarray(0, whole.length / 2)],
    ["is missing", () => null],
  ];
  test.each(faults)("%s is named, with what to do", async (_name, damage) => {
    using directory = temporaryDirectory();
    for (const [part, whole] of Object.entries({
      segmentationPath: segmentationModel,
      embeddingPath: embeddingModel,
    })) {
      const path = join(directory.path, `${part}.onnx`);
      const bytes = damage(await Bun.file(whole).bytes());
      if (bytes !== null) await Bun.write(path, bytes);
      const paths = { segmentationPath: segmentationModel, embeddingPath: embeddingModel, [part]: path };
      const opened = openDiarizationModels({ onnxBinding, threads: 1, ...paths });
      await expect(opened).rejects.toThrow(`cannot load the model ${path}: `);
      await expect(opened).rejects.toThrow('Check it with "transcribe models verify"');
    }
  });
});
