import type { ModelSizes } from "../model-file/index.ts";
import { balanceNorm, balanceOutputs, type ProductWeights } from "./balance-weights.ts";
import { OnnxGraph, type StoredBytes } from "./onnx-graph.ts";
import { type ByteForm, packForProducts, packInBytes, transpose } from "./pack-weights.ts";

/**
 * The implementation of the encoder: ONNX Runtime's in floats, or our addon's operators with products in bfloat16 or in
 * bytes. Apart from rounding, all give the results of the model's own encoder.
 */
export type EncoderForm = "float" | "bfloat16" | ByteForm;

/** Reads a tensor of the model by its name in the ggml file, without the prefix "encoder.". */
export type ReadWeights = (name: string) => Promise<Float32Array>;
/** Stores weights in a file next to the ONNX model. */
export type Store = (values: Float32Array | Uint16Array | Uint8Array) => Promise<StoredBytes>;

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
  await (form === "float" ? graph.inFloats() : graph.withOwnOperators(form));
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

  /** Adds the encoder with ONNX's operators. */
  async inFloats(): Promise<void> {
    const { audioLayers, audioWidth: width, audioContext: positions } = this.#sizes;
    const graph = this.#graph;
    const rows = await this.#convolutions("spectrum");
    const places = await this.#floats([positions, width], await this.#read("positional_embedding"));
    const count = graph.apply("Shape", [rows], { start: 1, end: 2 });
    let x = graph.apply("Add", [rows, graph.apply("Slice", [places, this.#whole(0), count, this.#whole(0)])]);
    for (let layer = 0; layer < audioLayers; layer++) x = await this.#layer(`blocks.${layer}.`, x);
    graph.output(await this.#normalise(x, "ln_post."), "encoding");
  }

  /** Adds the encoder with our addon's operators (native/src/encoder/operators.h). */
  async withOwnOperators(form: "bfloat16" | ByteForm): Promise<void> {
    const { audioLayers, audioWidth: width, audioContext: positions } = this.#sizes;
    const rows = await this.#convolutions(this.#own("Trim", ["spectrum"]));
    const places = await this.#floats([positions, width], await this.#read("positional_embedding"));
    let x = this.#own("Place", [rows, places, "spectrum"]);
    for (let layer = 0; layer < audioLayers; layer++) {
      const name = `blocks.${layer}.`;
      const isLast = layer === audioLayers - 1;
      x = await (form === "bfloat16" ? this.#bfloat16Layer(name, x) : this.#byteLayer(form, name, x, isLast));
    }
    const normal = await this.#normalise(x, "ln_post.");
    this.#graph.output(interpolates(form) ? this.#own("Interpolate", [normal, "spectrum"]) : normal, "encoding");
  }

  finish(): Uint8Array {
    const { mels, audioWidth: width } = this.#sizes;
    return this.#graph.finish(
      { name: "spectrum", shape: [1, mels, "frames"] },
      { name: "encoding", shape: [1, "positions", width] },
    );
  }

  async #convolutions(spectrum: string): Promise<string> {
    const { audioWidth: width, mels } = this.#sizes;
    const first = await this.#convolution(spectrum, "conv1.", mels, 1);
    const second = await this.#convolution(first, "conv2.", width, 2);
    return this.#graph.apply("Transpose", [second], { perm: [0, 2, 1] });
  }

  async #layer(name: string, x: string): Promise<string> {
    const { audioWidth: width, audioHeads: heads } = this.#sizes;
    const graph = this.#graph;
    const attentionInput = await this.#normalise(x, `${name}attn_ln.`);
    const query = await this.#linear(attentionInput, `${name}attn.query.`, width, width);
    const key = await this.#linear(attentionInput, `${name}attn.key.`, width, width, false);
    const value = await this.#linear(attentionInput, `${name}attn.value.`, width, width);
    const attended = graph.applyOf("com.microsoft", "MultiHeadAttention", [query, key, value], { num_heads: heads });
    const y = graph.apply("Add", [x, await this.#linear(attended, `${name}attn.out.`, width, width)]);
    const normal = await this.#normalise(y, `${name}mlp_ln.`);
    const inner = graph.apply("Gelu", [await this.#linear(normal, `${name}mlp.0.`, width, 4 * width)]);
    return graph.apply("Add", [y, await this.#linear(inner, `${name}mlp.2.`, 4 * width, width)]);
  }

  /** Adds a layer like `#layer` with products in bfloat16. */
  async #bfloat16Layer(name: string, x: string): Promise<string> {
    const normal = async (y: string, norm: string) =>
      this.#own("Normalise", [y, ...(await this.#norm(`${name}${norm}`))]);
    const weights = (...parts: string[]) => this.#inBfloat16(name, parts);
    const projections = await weights("attn.query", "attn.key", "attn.value");
    const attended = this.#own("Attend", [await normal(x, "attn_ln"), ...projections]);
    const y = this.#own("Add", [x, attended, ...(await weights("attn.out"))]);
    const inner = this.#own("Activate", [await normal(y, "mlp_ln"), ...(await weights("mlp.0"))]);
    return this.#own("Add", [y, inner, ...(await weights("mlp.2"))]);
  }

  /** Adds a layer like `#layer` with products in bytes. The last one may compute only some positions of the padding. */
  async #byteLayer(form: ByteForm, name: string, x: string, isLast: boolean): Promise<string> {
    const output = await this.#joined(name, ["attn.out"]);
    const projections = await this.#joined(name, ["attn.query", "attn.key", "attn.value"]);
    balanceOutputs(projections, output);
    const attention = await this.#afterNorm(form, `${name}attn_ln`, projections);
    const inputs = [x, ...attention, ...(await this.#inBytes(form, output))];
    const y =
      isLast && interpolates(form)
        ? this.#own("AddKeptAttention", [...inputs, "spectrum"])
        : this.#own("AddAttention", inputs);
    const first = await this.#afterNorm(form, `${name}mlp_ln`, await this.#joined(name, ["mlp.0"]));
    const second = await this.#inBytes(form, await this.#joined(name, ["mlp.2"]));
    return this.#own("AddFeedForward", [y, ...first, ...second]);
  }

  /** Adds the weights of a layer normalization and of the product that follows it in bytes. */
  async #afterNorm(form: ByteForm, name: string, product: ProductWeights): Promise<string[]> {
    const norm = { weight: await this.#read(`${name}.weight`), bias: await this.#read(`${name}.bias`) };
    balanceNorm(norm, product);
    const width = norm.weight.length;
    const stored = [await this.#floats([width], norm.weight), await this.#floats([width], norm.bias)];
    return [...stored, ...(await this.#inBytes(form, product))];
  }

  #inBytes(form: ByteForm, { matrix, bias }: ProductWeights): Promise<[matrix: string, bias: string]> {
    return this.#product("uint8", packInBytes(form, matrix, bias.length, matrix.length / bias.length), bias);
  }

  async #inBfloat16(layer: string, names: readonly string[]): Promise<[matrix: string, bias: string]> {
    const { matrix, bias } = await this.#joined(layer, names);
    return this.#product("uint16", packForProducts(matrix, bias.length, matrix.length / bias.length), bias);
  }

  async #product(
    type: "uint8" | "uint16",
    packed: Uint8Array | Uint16Array,
    bias: Float32Array,
  ): Promise<[matrix: string, bias: string]> {
    const matrix = this.#graph.stored(type, [packed.length], await this.#store(packed));
    return [matrix, await this.#floats([bias.length], bias)];
  }

  async #normalise(x: string, name: string): Promise<string> {
    const [weight, bias] = [await this.#vector(`${name}weight`), await this.#vector(`${name}bias`)];
    return this.#graph.apply("LayerNormalization", [x, weight, bias], { axis: 2, epsilon: { float: epsilon } });
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

  /** Joins the weight matrices of several products with the same left operand, and their biases. */
  async #joined(layer: string, names: readonly string[]): Promise<ProductWeights> {
    const biases: Float32Array[] = [];
    const matrices: Float32Array[] = [];
    for (const name of names) {
      matrices.push(await this.#read(`${layer}${name}.weight`));
      // Keys have no bias.
      const hasBias = !name.endsWith("key");
      biases.push(hasBias ? await this.#read(`${layer}${name}.bias`) : new Float32Array(this.#sizes.audioWidth));
    }
    return { matrix: joined(matrices), bias: joined(biases) };
  }

  #own(operator: string, inputs: readonly string[]): string {
    return this.#graph.applyOf("transcribe", operator, inputs);
  }

  async #norm(name: string): Promise<[weight: string, bias: string]> {
    return [await this.#vector(`${name}.weight`), await this.#vector(`${name}.bias`)];
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

/** Returns whether the last layer computes only some positions of a window's padding. */
function interpolates(form: EncoderForm): boolean {
  return form === "int7-signed" || form === "int8-signed";
}

function joined(parts: readonly Float32Array[]): Float32Array {
  return new Float32Array(Bun.concatArrayBuffers([...parts]));
}
