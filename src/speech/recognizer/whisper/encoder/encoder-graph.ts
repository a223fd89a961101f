import type { ModelSizes } from "../model-file/index.ts";
import { OnnxGraph, type StoredBytes } from "./onnx-graph.ts";

/**
 * The implementation of the encoder: ONNX Runtime's in floats, or our addon's operators with bfloat16 products. Apart
 * from rounding, both give the results of the model's own encoder.
 */
export type EncoderForm = "float" | "bfloat16";

/** Reads a tensor of the model by its name in the ggml file, without the prefix "encoder.". */
export type ReadWeights = (name: string) => Promise<Float32Array>;
/** Stores weights in a file next to the ONNX model. */
export type Store = (values: Float32Array | Uint16Array) => Promise<StoredBytes>;

/** PyTorch's default, which OpenAI's model.py does not change. */
const epsilon = 1e-5;

/**
 * Builds Whisper's encoder (model.py of OpenAI's whisper) as an ONNX model: `spectrum` [1][mels][frames] → `encoding`
 * [1][frames / 2][width]. A window may have at most as many frames as the model was trained with.
 */
export async function encoderGraph(
  sizes: ModelSizes,
  form: EncoderForm,
  read: ReadWeights,
  store: Store,
): Promise<Uint8Array> {
  const graph = new Builder(sizes, read, store);
  let x = await graph.convolutions("spectrum");
  for (let layer = 0; layer < sizes.audioLayers; layer++) {
    const name = `blocks.${layer}.`;
    x = await (form === "bfloat16" ? graph.ownLayer(name, x) : graph.layer(name, x));
  }
  graph.output(await graph.normalise(x, "ln_post."), "encoding");
  return graph.finish();
}

class Builder {
  readonly #graph = new OnnxGraph();
  readonly #sizes: ModelSizes;
  readonly #read: ReadWeights;
  readonly #store: Store;

  constructor(sizes: ModelSizes, read: ReadWeights, store: Store) {
    this.#sizes = sizes;
    this.#read = read;
    this.#store = store;
  }

  async convolutions(spectrum: string): Promise<string> {
    const { audioWidth: width, mels, audioContext: positions } = this.#sizes;
    const graph = this.#graph;
    const first = await this.#convolution(spectrum, "conv1.", mels, 1);
    const second = await this.#convolution(first, "conv2.", width, 2);
    const inOrder = graph.apply("Transpose", [second], { perm: [0, 2, 1] });
    const places = await this.#floats([positions, width], await this.#read("positional_embedding"));
    const count = graph.apply("Shape", [inOrder], { start: 1, end: 2 });
    return graph.apply("Add", [inOrder, graph.apply("Slice", [places, this.#whole(0), count, this.#whole(0)])]);
  }

  async layer(name: string, x: string): Promise<string> {
    const { audioWidth: width, audioHeads: heads } = this.#sizes;
    const graph = this.#graph;
    const attentionInput = await this.normalise(x, `${name}attn_ln.`);
    const query = await this.#linear(attentionInput, `${name}attn.query.`, width, width);
    const key = await this.#linear(attentionInput, `${name}attn.key.`, width, width, false);
    const value = await this.#linear(attentionInput, `${name}attn.value.`, width, width);
    const attended = graph.applyOf("com.microsoft", "MultiHeadAttention", [query, key, value], { num_heads: heads });
    const y = graph.apply("Add", [x, await this.#linear(attended, `${name}attn.out.`, width, width)]);
    const normal = await this.normalise(y, `${name}mlp_ln.`);
    const inner = graph.apply("Gelu", [await this.#linear(normal, `${name}mlp.0.`, width, 4 * width)]);
    return graph.apply("Add", [y, await this.#linear(inner, `${name}mlp.2.`, 4 * width, width)]);
  }

  /** Adds a layer like `layer`, but with our addon's operators (native/src/operators.h). */
  async ownLayer(name: string, x: string): Promise<string> {
    const own = (operator: string, inputs: readonly string[]) => this.#graph.applyOf("transcribe", operator, inputs);
    const normal = async (y: string, norm: string) =>
      own("Normalise", [y, await this.#vector(`${name}${norm}.weight`), await this.#vector(`${name}${norm}.bias`)]);
    const weights = (...parts: string[]) => this.#packed(parts.map((part) => `${name}${part}`));
    const attentionInput = await normal(x, "attn_ln");
    const attended = own("Attend", [attentionInput, ...(await weights("attn.query", "attn.key", "attn.value"))]);
    const y = own("Add", [x, attended, ...(await weights("attn.out"))]);
    const inner = own("Activate", [await normal(y, "mlp_ln"), ...(await weights("mlp.0"))]);
    return own("Add", [y, inner, ...(await weights("mlp.2"))]);
  }

  async normalise(x: string, name: string): Promise<string> {
    const [weight, bias] = [await this.#vector(`${name}weight`), await this.#vector(`${name}bias`)];
    return this.#graph.apply("LayerNormalization", [x, weight, bias], { axis: 2, epsilon: { float: epsilon } });
  }

  output(value: string, name: string): void {
    this.#graph.output(value, name);
  }

  finish(): Uint8Array {
    const { mels, audioWidth: width } = this.#sizes;
    return this.#graph.finish(
      { name: "spectrum", shape: [1, mels, "frames"] },
      { name: "encoding", shape: [1, "positions", width] },
    );
  }

  async #convolution(x: string, name: string, inputs: number, stride: number): Promise<string> {
    const weights = await this.#floats([this.#sizes.audioWidth, inputs, 3], await this.#read(`${name}weight`));
    const how = { kernel_shape: [3], pads: [1, 1], strides: [stride] };
    return this.#graph.apply("Gelu", [this.#graph.apply("Conv", [x, weights, await this.#vector(`${name}bias`)], how)]);
  }

  async #linear(x: string, name: string, inputs: number, outputs: number, hasBias = true): Promise<string> {
    const weights = transpose(await this.#read(`${name}weight`), outputs, inputs);
    const product = this.#graph.apply("MatMul", [x, await this.#floats([inputs, outputs], weights)]);
    return hasBias ? this.#graph.apply("Add", [product, await this.#vector(`${name}bias`)]) : product;
  }

  /** Packs the weight matrices of several products with the same left operand into one, and joins their biases. */
  async #packed(names: readonly string[]): Promise<[matrix: string, bias: string]> {
    const biases: Float32Array[] = [];
    const matrices: Float32Array[] = [];
    for (const name of names) {
      matrices.push(await this.#read(`${name}.weight`));
      // Keys have no bias.
      biases.push(name.endsWith("key") ? new Float32Array(this.#sizes.audioWidth) : await this.#read(`${name}.bias`));
    }
    const bias = joined(biases);
    const matrix = joined(matrices);
    const packed = packForProducts(matrix, bias.length, matrix.length / bias.length);
    return [
      this.#graph.stored("uint16", [packed.length], await this.#store(packed)),
      await this.#floats([bias.length], bias),
    ];
  }

  async #vector(name: string): Promise<string> {
    const values = await this.#read(name);
    return this.#floats([values.length], values);
  }

  async #floats(shape: readonly number[], values: Float32Array): Promise<string> {
    return this.#graph.stored("float", shape, await this.#store(values));
  }

  #whole(value: number): string {
    return this.#graph.constant([1], BigInt64Array.of(BigInt(value)));
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  return new Float32Array(Bun.concatArrayBuffers([...parts]));
}

/** Number of columns that the addon's products process at a time. */
const panel = 64;

/** Transposes [outputs][inputs] to [inputs][outputs], the layout of ONNX products. */
export function transpose(weights: Float32Array, outputs: number, inputs: number): Float32Array {
  const transposed = new Float32Array(weights.length);
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      transposed[input * outputs + output] = weights[output * inputs + input] ?? 0;
    }
  }
  return transposed;
}

/** Packs [outputs][inputs] into [outputs / 64][inputs / 2][64][2] of bfloat16, the layout of the addon's products. */
export function packForProducts(weights: Float32Array, outputs: number, inputs: number): Uint16Array {
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  const packed = new Uint16Array(weights.length);
  for (let output = 0; output < outputs; output++) {
    const start = Math.floor(output / panel) * panel * inputs + (output % panel) * 2;
    for (let input = 0; input < inputs; input++) {
      const at = start + (input >> 1) * panel * 2 + (input & 1);
      packed[at] = toBfloat16(bits[output * inputs + input] ?? 0);
    }
  }
  return packed;
}

/** Returns the upper half of a float's bits, rounded to nearest, ties to even. */
function toBfloat16(bits: number): number {
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
