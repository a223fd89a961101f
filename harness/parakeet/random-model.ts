import { closeSync, openSync, writeSync } from "node:fs";
import { FLOAT16, FLOAT32 } from "../../src/speech/recognizer/ggml-file/index.ts";
import {
  expectedTensors,
  type ModelSizes,
  weightTypes,
} from "../../src/speech/recognizer/parakeet/model-file/index.ts";
import { normalNumbers } from "../random-numbers.ts";
import { quantize } from "./quantize.ts";
import { melFilters, pieces } from "./random-parts.ts";

/** Sizes of a model and the seed of its weights. */
export interface RandomModelOptions extends ModelSizes {
  readonly seed: number;
}

/** The smallest model that is useful in tests: a few hundred kilobytes, English only. */
export const tinyModel: RandomModelOptions = {
  ...{ vocabulary: 1024, audioContext: 5000, width: 64, heads: 4, layers: 2, mels: 128, weightForm: 0 },
  ...{ transform: 512, subsampling: 8, channels: 16, kernel: 9, predictorWidth: 32, predictorLayers: 2 },
  ...{ durations: 5, maxSymbols: 10, seed: 1 },
};

/** The shape of parakeet-tdt-0.6b-v3 in 16 bits. */
export const largeModel: RandomModelOptions = {
  ...{ ...tinyModel, vocabulary: 8192, width: 1024, heads: 8, layers: 24, weightForm: 1 },
  ...{ channels: 256, predictorWidth: 640 },
};

/** A part of a model file: its bytes, and what they are for those that need to know. */
export type ModelPart =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "floats"; readonly values: Float32Array }
  | {
      readonly kind: "tensor";
      readonly name: string;
      readonly shape: readonly number[];
      readonly values: Float32Array;
    };

const MAGIC = 0x67676d6c;
const WINDOW_SAMPLES = 400;
/** Divisor of the header's number for the form of the weights. */
const VERSION_FACTOR = 1000;

/**
 * Returns the parts of a Parakeet TDT model with random weights, in file order. Decoding it has the pace of speech: about
 * a third of the steps say nothing, and most tokens last two to four frames, which makes three tokens a second.
 * Attention and activations are kept from making all frames alike, which would repeat one token. The same options give
 * the same model.
 */
export function* randomModel(options: RandomModelOptions): Generator<ModelPart> {
  const normal = normalNumbers(options.seed);
  yield* [MAGIC, ...header(options)].map(numberPart);
  const bins = options.transform / 2 + 1;
  yield* [options.mels, bins].map(numberPart);
  yield { kind: "floats", values: melFilters(options.mels, bins) };
  yield numberPart(WINDOW_SAMPLES);
  const angle = (2 * Math.PI) / (WINDOW_SAMPLES - 1);
  yield {
    kind: "floats",
    values: Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => 0.5 - 0.5 * Math.cos(angle * i)),
  };
  yield* Array.from({ length: options.durations }, (_, duration) => numberPart(duration));
  yield numberPart(options.vocabulary);
  for (const text of pieces(options.vocabulary, options.seed)) yield { kind: "text", text };
  const weightType = weightTypes.get(options.weightForm % VERSION_FACTOR) ?? FLOAT32;
  for (const [name, { shape }] of expectedTensors(options, weightType)) {
    yield { kind: "tensor", name, shape, values: randomTensor(name, shape, options, normal) };
  }
}

function numberPart(value: number): ModelPart {
  return { kind: "number", value };
}

function header(sizes: ModelSizes): number[] {
  return [
    ...[sizes.vocabulary, sizes.audioContext, sizes.width, sizes.heads, sizes.layers, sizes.mels, sizes.weightForm],
    ...[sizes.transform, sizes.subsampling, sizes.channels, sizes.kernel, sizes.predictorWidth, sizes.predictorLayers],
    ...[sizes.durations, sizes.maxSymbols],
  ];
}

/** Bias of blank above the expected highest token, and of the durations. They set the pace. */
const BLANK_BIAS = -0.35;
const DURATION_BIASES = [-2.4, -0.3, 0.4, 0.6, 0.8];

type Normal = (count: number, scale: number, mean?: number) => Float32Array;

function randomTensor(name: string, shape: readonly number[], sizes: ModelSizes, normal: Normal): Float32Array {
  const count = shape.reduce((product, size) => product * size, 1);
  const inputs = shape.slice(1).reduce((product, size) => product * size, 1);
  const linear = (scale: number) => normal(count, scale * inputs ** -0.5);
  // Inputs after an activation have a mean, which would make all frames alike.
  const afterActivation = (scale: number) => withoutRowMeans(linear(scale), inputs);
  if (name.endsWith("num_batches_tracked")) return new Float32Array(1);
  if (name.endsWith("running_var")) return normal(count, 0.3).map((value) => 0.2 + Math.abs(value));
  if (/pre_encode\.conv\..*weight/.test(name)) return normal(count, (2 / inputs) ** 0.5);
  if (name === "encoder.pre_encode.out.weight") return afterActivation(2);
  if (/norm.*\.weight$/.test(name)) return normal(count, 0.05, 1);
  if (/norm_.*\.bias$/.test(name) && !name.includes("batch_norm")) return normal(count, 0.05);
  if (/pos_bias/.test(name)) return normal(count, 0.2);
  if (name.endsWith("linear_out.weight")) return linear(0.3);
  if (/linear2\.weight|pointwise_conv2\.weight/.test(name)) return afterActivation(1);
  if (name === "decoder.prediction.embed.weight") {
    // Blank stands for no token.
    return normal(count, 1).fill(0, sizes.vocabulary * inputs);
  }
  if (name === "joint.pred.weight") return linear(1.5);
  if (name === "joint.joint_net.2.weight") return afterActivation(2.5 ** 0.5);
  if (name === "joint.joint_net.2.bias") return outputBias(sizes);
  return name.endsWith("bias") || /bias_h|running_mean/.test(name) ? normal(count, 0.1) : linear(1);
}

function withoutRowMeans(values: Float32Array, width: number): Float32Array {
  for (let start = 0; start < values.length; start += width) {
    const row = values.subarray(start, start + width);
    const mean = row.reduce((sum, value) => sum + value, 0) / width;
    for (let i = 0; i < width; i++) row[i] = (row[i] ?? 0) - mean;
  }
  return values;
}

function outputBias({ vocabulary, durations }: ModelSizes): Float32Array {
  const bias = new Float32Array(vocabulary + 1 + durations);
  // Expected maximum of as many normal numbers as there are tokens.
  const spread = Math.sqrt(2 * Math.log(vocabulary));
  bias[vocabulary] = spread - Math.log(Math.log(vocabulary) * 4 * Math.PI) / (2 * spread) + BLANK_BIAS;
  bias.set(DURATION_BIASES.slice(0, durations), vocabulary + 1);
  return bias;
}

/** Writes a random model to a file. Memory for one tensor at a time. */
export function writeRandomModel(path: string, options: RandomModelOptions): void {
  const file = openSync(path, "w");
  try {
    for (const bytes of partBytes(options)) writeSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

export function* partBytes(options: RandomModelOptions): Generator<Uint8Array> {
  const weightType = weightTypes.get(options.weightForm % VERSION_FACTOR) ?? FLOAT32;
  const types = expectedTensors(options, weightType);
  for (const part of randomModel(options)) {
    if (part.kind === "number") yield bytesOf(Int32Array.of(part.value));
    else if (part.kind === "floats") yield bytesOf(part.values);
    else if (part.kind === "text") {
      const text = Buffer.from(part.text);
      yield bytesOf(Int32Array.of(text.length));
      yield text;
    } else {
      const type = types.get(part.name)?.type ?? FLOAT32;
      const name = Buffer.from(part.name);
      // ggml counts the innermost dimension first.
      yield bytesOf(Int32Array.of(part.shape.length, name.length, type, ...part.shape.toReversed()));
      yield name;
      if (type === FLOAT32) yield bytesOf(part.values);
      else if (type === FLOAT16) yield bytesOf(Float16Array.from(part.values));
      else yield quantize(part.values, type);
    }
  }
}

function bytesOf(values: Int32Array | Float32Array | Float16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
