import { type ExpectedTensor, FLOAT16, FLOAT32 } from "../../ggml-file/index.ts";
import type { ModelSizes } from "./read-model-file.ts";

/** Stride in time and mels of the three convolutions before the encoder's layers. */
export const SUBSAMPLING = 8;

/**
 * Lists the tensors that parakeet.cpp requires, by name: matrices in the weight type, convolutions, biases and norms in
 * 32 bits.
 * @param weightType ggml's number of the matrices' element type
 */
export function expectedTensors(sizes: ModelSizes, weightType: number): Map<string, ExpectedTensor> {
  const tensors = new Map<string, ExpectedTensor>();
  const add = (name: string, type: number, ...shape: number[]) => tensors.set(name, { shape, type });
  const { width, channels, heads, kernel, predictorWidth: predictor } = sizes;
  const matrix = (name: string, outputs: number, inputs: number) => add(`${name}.weight`, weightType, outputs, inputs);
  const withBias = (name: string, outputs: number, inputs: number) => {
    matrix(name, outputs, inputs);
    add(`${name}.bias`, FLOAT32, outputs);
  };
  const norm = (name: string) => {
    add(`${name}.weight`, FLOAT32, width);
    add(`${name}.bias`, FLOAT32, width);
  };
  const convolution = (layer: number, inputs: number, side: number) => {
    add(`encoder.pre_encode.conv.${layer}.weight`, FLOAT32, channels, inputs, side, side);
    add(`encoder.pre_encode.conv.${layer}.bias`, FLOAT32, 1, channels, 1, 1);
  };

  // A full convolution, then twice a depthwise one, which has one input per channel, and a pointwise one.
  convolution(0, 1, 3);
  for (const depthwise of [2, 5]) {
    convolution(depthwise, 1, 3);
    convolution(depthwise + 1, channels, 1);
  }
  withBias("encoder.pre_encode.out", width, (sizes.mels / SUBSAMPLING) * channels);
  for (let layer = 0; layer < sizes.layers; layer++) {
    const prefix = `encoder.layers.${layer}`;
    for (const part of ["feed_forward1", "self_att", "conv", "feed_forward2", "out"]) norm(`${prefix}.norm_${part}`);
    for (const feed of ["feed_forward1", "feed_forward2"]) {
      matrix(`${prefix}.${feed}.linear1`, 4 * width, width);
      matrix(`${prefix}.${feed}.linear2`, width, 4 * width);
    }
    add(`${prefix}.self_attn.pos_bias_u`, FLOAT32, heads, width / heads);
    add(`${prefix}.self_attn.pos_bias_v`, FLOAT32, heads, width / heads);
    for (const part of ["q", "k", "v", "out", "pos"]) matrix(`${prefix}.self_attn.linear_${part}`, width, width);
    matrix(`${prefix}.conv.pointwise_conv1`, 2 * width, width);
    add(`${prefix}.conv.depthwise_conv.weight`, FLOAT32, width, kernel);
    for (const part of ["weight", "bias", "running_mean", "running_var"]) {
      add(`${prefix}.conv.batch_norm.${part}`, FLOAT32, width);
    }
    // A single number of training, which nothing uses.
    add(`${prefix}.conv.batch_norm.num_batches_tracked`, FLOAT32);
    matrix(`${prefix}.conv.pointwise_conv2`, width, width);
  }

  // One more than the vocabulary: blank, which is also the token before the first one.
  matrix("decoder.prediction.embed", sizes.vocabulary + 1, predictor);
  for (let layer = 0; layer < sizes.predictorLayers; layer++) {
    const prefix = "decoder.prediction.dec_rnn.lstm";
    add(`${prefix}.weight_ih_l${layer}`, weightType, 4 * predictor, predictor);
    add(`${prefix}.weight_hh_l${layer}`, weightType, 4 * predictor, predictor);
    add(`${prefix}.bias_h_l${layer}`, FLOAT32, 4 * predictor);
  }
  withBias("joint.pred", predictor, predictor);
  withBias("joint.enc", predictor, width);
  withBias("joint.joint_net.2", sizes.vocabulary + 1 + sizes.durations, predictor);
  return tensors;
}

/**
 * Element type of a model's matrices by the header's number for their form (ggml.h, `enum ggml_ftype`): 32 and 16 bits,
 * q4_0, q8_0 and q5_0. K-quants are left out: the predictor's width is no multiple of their blocks.
 */
export const weightTypes: ReadonlyMap<number, number> = new Map([
  [0, FLOAT32],
  [1, FLOAT16],
  [2, 2],
  [7, 8],
  [8, 6],
]);
