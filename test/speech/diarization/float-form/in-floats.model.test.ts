import { describe, expect, test } from "bun:test";
import { available } from "../../../../harness/checkout.ts";
import { randomNumbers } from "../../../../harness/random-numbers.ts";
import { programFiles } from "../../../../src/program/index.ts";
import { inFloats } from "../../../../src/speech/diarization/float-form.ts";
import { parseOnnx } from "../../../../src/speech/diarization/onnx-model.ts";
import { silenceOnnxTelemetry } from "../../../../src/speech/onnx-runtime.ts";

const { segmentationModel, embeddingModel } = await programFiles("");
const inBytes = /^(?:QLinear|DynamicQuantize|QuantizeLinear|DequantizeLinear)/;
const byteOperators = (model: Uint8Array) => parseOnnx(model).operators.filter(({ type }) => inBytes.test(type)).length;

/** Returns a model's output for two seconds of intermittent noise. */
async function outputOf(model: Uint8Array, samples: number): Promise<Float32Array> {
  silenceOnnxTelemetry();
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const session = await InferenceSession.create(model, { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const next = randomNumbers(1);
  const waveform = Float32Array.from({ length: samples }, (_, at) => 0.3 * Math.sin(at / 900) ** 2 * (next() - 0.5));
  const results = await session.run({ waveform: new Tensor("float32", waveform, [1, samples]) });
  const data = Object.values(results)[0]?.data;
  await session.release();
  if (!(data instanceof Float32Array)) throw new Error("no floats");
  return data;
}

const models: [string, string, number, number][] = [
  ["segmentation model", segmentationModel, 104_300, 0.01],
  ["embedding model", embeddingModel, 32_000, 0.02],
];
describe.if(available("the float form", segmentationModel, embeddingModel))("the float form of the", () => {
  test.each(models)("%s has no quantised operator and gives the model's results", async (_, path, samples, apart) => {
    const model = await Bun.file(path).bytes();
    const floats = inFloats(model);
    expect(byteOperators(model)).toBeGreaterThan(3);
    expect(byteOperators(floats)).toBe(0);
    const [expected, output] = [await outputOf(model, samples), await outputOf(floats, samples)];
    expect(output).toHaveLength(expected.length);
    expect(Math.max(...output.map((value, at) => Math.abs(value - (expected[at] ?? 9))))).toBeLessThan(apart);
    expect(inFloats(floats)).toEqual(floats);
  });

  test("the float form of a file that is truncated anywhere is refused", async () => {
    const model = await Bun.file(segmentationModel).bytes();
    const next = randomNumbers(2);
    for (let cut = 0; cut < 200; cut++) {
      const at = 1 + Math.floor(next() * (model.length - 2));
      expect(() => inFloats(model.subarray(0, at))).toThrow(RangeError);
    }
  });
});

test("random files are refused or have no quantised operators", () => {
  const next = randomNumbers(3);
  for (let file = 0; file < 500; file++) {
    const bytes = Uint8Array.from({ length: Math.floor(next() * 60) }, () => next() * 256);
    try {
      inFloats(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
});
