import { closeSync, openSync, writeSync } from "node:fs";
import { FLOAT32 } from "../../src/speech/recognizer/ggml-file/index.ts";
import {
  expectedTensors,
  type ModelSizes,
  weightTypes,
} from "../../src/speech/recognizer/parakeet/model-file/index.ts";
import { bytesOf, MAGIC, type ModelBytes, type ModelPart, modelBytes, numberParts } from "../ggml-model.ts";
import { normalNumbers } from "../random-numbers.ts";
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
  yield* numberParts(MAGIC, ...header(options));
  const bins = options.transform / 2 + 1;
  yield* numberParts(options.mels, bins);
  yield { kind: "floats", values: melFilters(options.mels, bins) };
  yield* numberParts(WINDOW_SAMPLES);
  const angle = (2 * Math.PI) / (WINDOW_SAMPLES - 1);
  yield {
    kind: "floats",
    values: Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => 0.5 - 0.5 * Math.cos(angle * i)),
  };
  yield* numberParts(...Array(options.durations).keys(), options.vocabulary);
  for (const [index, text] of pieces(options.vocabulary, options.seed).entries()) {
    // The lengths of a few pieces are enough.
    yield { kind: "text", text, isListed: index < 4 };
  }
  const weightType = weightTypes.get(options.weightForm % VERSION_FACTOR) ?? FLOAT32;
  for (const [name, tensor] of expectedTensors(options, weightType)) {
    yield { kind: "tensor", name, ...tensor, values: randomTensor(name, tensor.shape, options, normal) };
  }
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
    for (const part of randomModel(options)) for (const bytes of bytesOf(part)) writeSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

/** A small Parakeet model, and where its numbers and tensors lie. */
export function smallParakeet(options: RandomModelOptions = tinyModel): ModelBytes {
  return modelBytes(randomModel(options));
}
