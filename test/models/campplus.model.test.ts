import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import { available, root, samplePath } from "../../harness/checkout.ts";

const campplus = join(root, "build/models/campplus.onnx");
const talk = samplePath("sample.wav");

// It takes seconds on an idle machine, more on a busy one.
setDefaultTimeout(60_000);

/**
 * The expected values are those of the original in PyTorch 2.13 with the features of kaldi-native-fbank 1.23, for a real
 * telephone call. This model computes most convolutions in integers.
 */
describe.if(available("CAM++", campplus, talk))("CAM++", () => {
  let session: InferenceSession;
  beforeAll(async () => {
    const { InferenceSession } = await import("onnxruntime-node");
    session = await InferenceSession.create(campplus);
  });

  test.each([
    [7, 1.6, [-0.0214, 0.0448, -0.0555, -0.0422, -0.0181, 0.0147, -0.0161, 0.0649]],
    // Longer than the 2 s of context of a layer.
    [14.5, 5, [-0.0323, -0.1299, -0.1143, -0.0247, 0.04, -0.0394, -0.0302, 0.1117]],
  ])("embeds the voice from second %f over %f s nearly like the original", async (from, seconds, original) => {
    expect(session.outputMetadata).toMatchObject([{ name: "embedding", shape: ["batch", 192] }]);
    const embedding = await run(session, await samples(from, seconds));
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
    const first = embedding.subarray(0, original.length);
    const product = original.reduce((sum, value, index) => sum + value * (first[index] ?? 0), 0);
    expect(product / (Math.hypot(...original) * Math.hypot(...first))).toBeGreaterThan(0.97);
    expect(furthest([first], [original])).toBeLessThan(0.03);
  });

  test.each([
    ["25 ms of speech", () => samples(7, 0.025)],
    ["25 ms of silence", async () => new Float32Array(400)],
    ["a second of silence", async () => new Float32Array(16_000)],
  ])("returns an embedding of length 1 for %s", async (_, waveform) => {
    expect(Math.hypot(...(await run(session, await waveform())))).toBeCloseTo(1, 4);
  });

  test("returns the same embedding for a recording alone and in a batch", async () => {
    const { Tensor } = await import("onnxruntime-node");
    const slices = [await samples(7, 1.6), await samples(14.5, 1.6), await samples(20, 1.6)];
    const waveform = new Tensor("float32", Float32Array.from(slices.flatMap((slice) => [...slice])), [3, 25_600]);
    const { embedding } = await session.run({ waveform });
    const alone = await Promise.all(slices.map((slice) => run(session, slice)));
    expect(furthest([floatsOf(embedding)], [alone.flatMap((each) => [...each])])).toBeLessThan(0.001);
  });
});

async function run(session: InferenceSession, waveform: Float32Array): Promise<Float32Array> {
  const { Tensor } = await import("onnxruntime-node");
  const { embedding } = await session.run({ waveform: new Tensor("float32", waveform, [1, waveform.length]) });
  return floatsOf(embedding);
}

function floatsOf(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new Error("the model has no output of floats called embedding");
  return tensor.data;
}

/** Returns samples of the recording, a WAV file with 16-bit samples at 16 kHz. */
async function samples(fromSeconds: number, seconds: number): Promise<Float32Array> {
  const file = Buffer.from(await Bun.file(talk).arrayBuffer());
  const data = file.indexOf("data") + 8;
  return Float32Array.from(
    { length: seconds * 16_000 },
    (_, place) => file.readInt16LE(data + 2 * (fromSeconds * 16_000 + place)) / 32_768,
  );
}

function furthest(ours: readonly ArrayLike<number>[], theirs: readonly ArrayLike<number>[]): number {
  return Math.max(
    ...theirs.flatMap((row, at) =>
      Array.from(row, (value, place) => Math.abs(value - (ours[at]?.[place] ?? Number.NaN))),
    ),
  );
}
