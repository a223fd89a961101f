import { ModelError } from "../model-error.ts";
import type { Ctranslate2Index, Variable } from "./ctranslate2-file.ts";
import { requireVariable, type WhisperShape } from "./whisper-shape.ts";

/** A tensor of the ggml file, and the rows of the CTranslate2 variable from which it is built. */
export interface TensorPlan {
  /** Name under which whisper.cpp looks the tensor up. */
  readonly name: string;
  /** Row-major, slowest dimension first; the ggml file has the reverse order. */
  readonly shape: readonly number[];
  readonly type: "float16" | "float32";
  readonly variable: Variable;
  /** Factors by which the rows of a quantised variable were multiplied. */
  readonly scale: Variable | undefined;
  readonly firstRow: number;
  readonly rows: number;
}

/**
 * Returns all tensors of a ggml Whisper file in the usual order: encoder before decoder, each with its positions first.
 *
 * Matrices and convolutions are float16, vectors and positions float32, as whisper.cpp's loader requires. CTranslate2
 * fuses the projections of an attention: query, key and value for self-attention, key and value for cross-attention.
 * Its key biases are dropped: Whisper has none, and CTranslate2 writes zeros. A key bias has no effect anyway: it adds
 * the same value to every score of a query, and the softmax cancels it.
 * @throws {ModelError} when a variable is missing, or its shape does not match the model's sizes
 */
export function planTensors(index: Ctranslate2Index, shape: WhisperShape): TensorPlan[] {
  const audio = shape.audioWidth;
  const text = shape.textWidth;
  const plan = new Planner(index);
  plan.vector2d("encoder.positional_embedding", "encoder/position_encodings/encodings", [shape.audioContext, audio]);
  for (const [name, inputs] of [["conv1", shape.mels] as const, ["conv2", audio] as const]) {
    plan.matrix(`encoder.${name}.weight`, `encoder/${name}/weight`, [audio, inputs, 3]);
    // A column vector, so that the bias is added to every frame.
    plan.vector(`encoder.${name}.bias`, `encoder/${name}/bias`, [audio, 1]);
  }
  for (let layer = 0; layer < shape.audioLayers; layer++) {
    const [to, from] = [`encoder.blocks.${layer}`, `encoder/layer_${layer}`];
    selfAttention(plan, to, from, audio);
    feedForward(plan, to, from, audio);
  }
  plan.norm("encoder.ln_post", "encoder/layer_norm", audio);
  plan.vector2d("decoder.positional_embedding", "decoder/position_encodings/encodings", [shape.textContext, text]);
  plan.matrix("decoder.token_embedding.weight", "decoder/embeddings/weight", [shape.vocabulary, text]);
  for (let layer = 0; layer < shape.textLayers; layer++) {
    const [to, from] = [`decoder.blocks.${layer}`, `decoder/layer_${layer}`];
    selfAttention(plan, to, from, text);
    crossAttention(plan, to, from, text, audio);
    feedForward(plan, to, from, text);
  }
  plan.norm("decoder.ln", "decoder/layer_norm", text);
  return plan.tensors;
}

function selfAttention(plan: Planner, to: string, from: string, width: number): void {
  const fused = `${from}/self_attention/linear_0`;
  plan.norm(`${to}.attn_ln`, `${from}/self_attention/layer_norm`, width);
  plan.linear(`${to}.attn.query`, fused, [width, width], { at: 0, of: 3 });
  plan.linear(`${to}.attn.key`, fused, [width, width], { at: 1, of: 3, withoutBias: true });
  plan.linear(`${to}.attn.value`, fused, [width, width], { at: 2, of: 3 });
  plan.linear(`${to}.attn.out`, `${from}/self_attention/linear_1`, [width, width]);
}

function crossAttention(plan: Planner, to: string, from: string, width: number, audioWidth: number): void {
  const fused = `${from}/attention/linear_1`;
  plan.norm(`${to}.cross_attn_ln`, `${from}/attention/layer_norm`, width);
  plan.linear(`${to}.cross_attn.query`, `${from}/attention/linear_0`, [width, width]);
  plan.linear(`${to}.cross_attn.key`, fused, [width, audioWidth], { at: 0, of: 2, withoutBias: true });
  plan.linear(`${to}.cross_attn.value`, fused, [width, audioWidth], { at: 1, of: 2 });
  plan.linear(`${to}.cross_attn.out`, `${from}/attention/linear_2`, [width, width]);
}

function feedForward(plan: Planner, to: string, from: string, width: number): void {
  plan.norm(`${to}.mlp_ln`, `${from}/ffn/layer_norm`, width);
  plan.linear(`${to}.mlp.0`, `${from}/ffn/linear_0`, [4 * width, width]);
  plan.linear(`${to}.mlp.2`, `${from}/ffn/linear_1`, [width, 4 * width]);
}

interface Share {
  /** Index of the block of rows in the fused variable. */
  readonly at: number;
  readonly of: number;
  readonly withoutBias?: boolean;
}

class Planner {
  readonly tensors: TensorPlan[] = [];

  readonly #index: Ctranslate2Index;

  constructor(index: Ctranslate2Index) {
    this.#index = index;
  }

  matrix(name: string, from: string, shape: readonly number[], share?: Share): void {
    this.#add(name, from, shape, "float16", shape.length, share);
  }

  vector(name: string, from: string, shape: readonly number[], share?: Share): void {
    this.#add(name, from, shape, "float32", 1, share);
  }

  /** Adds a matrix of positions, which stays float32. */
  vector2d(name: string, from: string, shape: readonly number[]): void {
    this.#add(name, from, shape, "float32", 2);
  }

  linear(name: string, from: string, shape: readonly [number, number], share?: Share): void {
    this.matrix(`${name}.weight`, `${from}/weight`, shape, share);
    if (!share?.withoutBias) this.vector(`${name}.bias`, `${from}/bias`, [shape[0]], share);
  }

  norm(name: string, from: string, width: number): void {
    this.vector(`${name}.weight`, `${from}/gamma`, [width]);
    this.vector(`${name}.bias`, `${from}/beta`, [width]);
  }

  #add(
    name: string,
    from: string,
    shape: readonly number[],
    type: TensorPlan["type"],
    rank: number,
    share: Share = { at: 0, of: 1 },
  ): void {
    const variable = requireVariable(this.#index, from, rank);
    const [rows = 0, ...rest] = shape;
    const expected = [rows * share.of, ...rest].slice(0, rank);
    if (expected.some((size, dimension) => size !== variable.shape[dimension])) {
      throw new ModelError(`${from} has the shape [${variable.shape}] where the model needs [${expected}]`);
    }
    const scale = this.#scaleOf(variable, from);
    this.tensors.push({ name, shape, type, variable, scale, firstRow: share.at * rows, rows });
  }

  #scaleOf(variable: Variable, name: string): Variable | undefined {
    if (variable.type === "int32") throw new ModelError(`${name} contains integers instead of weights`);
    if (variable.type !== "int8" && variable.type !== "int16") return undefined;
    const scale = this.#index.variables.get(`${name}_scale`);
    const count = scale?.shape.reduce((product, size) => product * size, 1);
    // int8 has one factor for each row, int16 a single factor.
    if (!scale || (count !== 1 && count !== variable.shape[0])) {
      throw new ModelError(`${name} is quantised (${variable.type}), and its scale is missing or of another size`);
    }
    if (scale.type === "int8" || scale.type === "int16" || scale.type === "int32") {
      throw new ModelError(`${name}_scale contains integers`);
    }
    return scale;
  }
}
