import { type ExpectedTensor, FLOAT16, FLOAT32 } from "../../ggml-file/index.ts";
import type { ModelSizes } from "./read-model-file.ts";

/**
 * Lists the tensors that whisper.cpp requires, by name: matrices in the weight type, convolutions in 16 bits, others in
 * 32.
 * @param weightType ggml's number of the matrices' element type
 */
export function expectedTensors(sizes: ModelSizes, weightType: number): Map<string, ExpectedTensor> {
  const tensors = new Map<string, ExpectedTensor>();
  const add = (name: string, type: number, ...shape: number[]) => tensors.set(name, { shape, type });
  const { audioWidth, textWidth } = sizes;
  const norm = (name: string, width: number) => {
    add(`${name}.weight`, FLOAT32, width);
    add(`${name}.bias`, FLOAT32, width);
  };
  const linear = (name: string, outputs: number, inputs: number) => {
    add(`${name}.weight`, weightType, outputs, inputs);
    add(`${name}.bias`, FLOAT32, outputs);
  };
  const convolution = (name: string, inputs: number) => {
    add(`${name}.weight`, FLOAT16, audioWidth, inputs, 3);
    add(`${name}.bias`, FLOAT32, audioWidth, 1);
  };
  const attention = (layer: string, name: string, width: number) => {
    norm(`${layer}.${name}_ln`, width);
    linear(`${layer}.${name}.query`, width, width);
    // Keys have no bias: it would add the same to every score of a query.
    add(`${layer}.${name}.key.weight`, weightType, width, width);
    linear(`${layer}.${name}.value`, width, width);
    linear(`${layer}.${name}.out`, width, width);
  };
  const feedForward = (layer: string, width: number) => {
    norm(`${layer}.mlp_ln`, width);
    linear(`${layer}.mlp.0`, 4 * width, width);
    linear(`${layer}.mlp.2`, width, 4 * width);
  };

  add("encoder.positional_embedding", FLOAT32, sizes.audioContext, audioWidth);
  convolution("encoder.conv1", sizes.mels);
  convolution("encoder.conv2", audioWidth);
  for (let layer = 0; layer < sizes.audioLayers; layer++) {
    attention(`encoder.blocks.${layer}`, "attn", audioWidth);
    feedForward(`encoder.blocks.${layer}`, audioWidth);
  }
  norm("encoder.ln_post", audioWidth);
  add("decoder.positional_embedding", FLOAT32, sizes.textContext, textWidth);
  add("decoder.token_embedding.weight", weightType, sizes.vocabulary, textWidth);
  for (let layer = 0; layer < sizes.textLayers; layer++) {
    attention(`decoder.blocks.${layer}`, "attn", textWidth);
    attention(`decoder.blocks.${layer}`, "cross_attn", textWidth);
    feedForward(`decoder.blocks.${layer}`, textWidth);
  }
  norm("decoder.ln", textWidth);
  return tensors;
}

/**
 * Element type of a model's matrices by the header's number for their form (ggml.h, `enum ggml_ftype`). 0 (32 bits) is
 * left out: whisper.cpp's convolutions crash the process on a CPU when they have 32 bits.
 */
export const weightTypes: ReadonlyMap<number, number> = new Map([
  [1, FLOAT16],
  [2, 2],
  [3, 3],
  [7, 8],
  [8, 6],
  [9, 7],
  [10, 10],
  [11, 11],
  [12, 12],
  [13, 13],
  [14, 14],
]);
