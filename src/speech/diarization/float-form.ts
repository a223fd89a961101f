import { Message } from "../protobuf.ts";
import { type Operator, parseOnnx, writeOnnx } from "./onnx-model.ts";

type Rewrite = (graph: FloatGraph, operator: Operator) => void;

/**
 * Replacement of each quantised operator: the same operator in floats, with the same weights, clipped to the range of
 * the quantised type. Inputs: https://onnx.ai/onnx/operators/ and ONNX Runtime's docs/ContribOperators.md.
 */
const rewrites: Readonly<Record<string, Rewrite>> = {
  QuantizeLinear(graph, { inputs: [x = "", scale = "", zero = ""], outputs: [y = ""] }) {
    graph.within({ scale, zero }, x, y);
  },
  DequantizeLinear(graph, { inputs: [x = ""], outputs: [y = ""] }) {
    graph.add("Identity", [x], y);
  },
  QLinearConv(graph, { inputs, outputs: [y = ""], attributes }) {
    const [x = "", ofInput = "", , weights = "", ofWeights = "", zeroWeights = "", scale = "", zero = "", bias] =
      inputs;
    const floats = graph.weights(weights, { scale: ofWeights, zero: zeroWeights });
    const shift =
      bias === undefined ? [] : [graph.add("Mul", [graph.cast(bias), graph.add("Mul", [ofInput, ofWeights])])];
    graph.within({ scale, zero }, graph.add("Conv", [x, floats, ...shift], undefined, attributes), y);
  },
  QLinearAdd(graph, { inputs, outputs: [y = ""] }) {
    const [a = "", , , b = "", , , scale = "", zero = ""] = inputs;
    graph.within({ scale, zero }, graph.add("Add", [a, b]), y);
  },
  DynamicQuantizeLSTM(graph, { inputs, outputs, attributes }) {
    const [x = "", weights = "", recurrence = "", bias = "", lengths = "", hidden = "", cell = "", peepholes = ""] =
      inputs;
    const [ofWeights, ofRecurrence] = [quantisationAt(inputs, 8), quantisationAt(inputs, 10)];
    const floats = [graph.lstmWeights(weights, ofWeights), graph.lstmWeights(recurrence, ofRecurrence)];
    graph.addAll("LSTM", [x, ...floats, bias, lengths, hidden, cell, peepholes], outputs, attributes);
  },
};

/**
 * Replaces the quantised operators of an ONNX model by float operators, which compute the same except for rounding to
 * bytes. The weights stay as they are and become floats when the model is loaded.
 * @throws {RangeError} if it is not such a model
 */
export function inFloats(file: Uint8Array): Uint8Array {
  const model = parseOnnx(file);
  const graph = new FloatGraph(model.constantTypes);
  for (const operator of model.operators) {
    const rewrite = Object.hasOwn(rewrites, operator.type) ? rewrites[operator.type] : undefined;
    if (rewrite === undefined) graph.keep(operator);
    else rewrite(graph, operator);
  }
  return writeOnnx({ ...model, operators: graph.operators, restOfGraph: [...model.restOfGraph, ...graph.constants] });
}

function quantisationAt(inputs: readonly string[], index: number): Quantisation {
  return { scale: inputs[index] ?? "", zero: inputs[index + 1] ?? "" };
}

/** Names of the constants that hold the scale and the zero point of quantised values. */
export interface Quantisation {
  readonly scale: string;
  readonly zero: string;
}

/** Element type numbers of onnx.proto. */
const float = 1;
/** Smallest and greatest value of each byte type. */
const reaches: ReadonlyMap<number, readonly [least: number, greatest: number]> = new Map([
  [2, [0, 255]],
  [3, [-128, 127]],
]);

/** Builder of float operators. ONNX Runtime computes expressions of constants once, at load time. */
export class FloatGraph {
  readonly operators: Operator[] = [];
  /** Constants, encoded as fields of GraphProto. */
  readonly constants: Uint8Array[] = [];
  readonly #types: ReadonlyMap<string, number>;
  readonly #numbers = new Map<number, string>();
  #count = 0;

  /** @param types element types of the model's constants */
  constructor(types: ReadonlyMap<string, number>) {
    this.#types = types;
  }

  keep(operator: Operator): void {
    this.operators.push(operator);
  }

  /** Adds a standard ONNX operator with one output. @returns the output's name */
  add(type: string, inputs: readonly string[], output = this.#name(), attributes: readonly Uint8Array[] = []): string {
    this.addAll(type, inputs, [output], attributes);
    return output;
  }

  addAll(
    type: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: readonly Uint8Array[] = [],
  ): void {
    this.operators.push({ type, domain: "", inputs, outputs, attributes });
  }

  cast(x: string): string {
    return this.add("Cast", [x], undefined, [new Message().text(1, "to").number(3, float).number(20, 2).finish()]);
  }

  /** Clips a value to the range of its quantised type. @throws {RangeError} if that range is unknown */
  within({ scale, zero }: Quantisation, x: string, output: string): void {
    const reach = reaches.get(this.#types.get(zero) ?? 0);
    if (reach === undefined) throw new RangeError(`the model does not define the range of ${output}`);
    const ends = reach.map((end) => this.add("Mul", [this.add("Sub", [this.#number(end), this.cast(zero)]), scale]));
    this.add("Clip", [x, ...ends], output);
  }

  /** Converts a convolution's weights, [outputs, …], to floats, with one scale for each output or one for all. */
  weights(bytes: string, quantisation: Quantisation): string {
    // transposed, the outputs are the last axis, which broadcasts with the list of scales
    return this.add("Transpose", [this.#floats(this.add("Transpose", [bytes]), quantisation)]);
  }

  /** Converts an LSTM's weights, [directions, inputs, gates], to floats in the layout [directions, gates, inputs]. */
  lstmWeights(bytes: string, quantisation: Quantisation): string {
    const inputsFirst = this.#transpose(bytes, [1, 0, 2]);
    return this.#transpose(this.#floats(inputsFirst, quantisation), [1, 2, 0]);
  }

  #floats(bytes: string, { scale, zero }: Quantisation): string {
    return this.add("Mul", [this.add("Sub", [this.cast(bytes), this.cast(zero)]), scale]);
  }

  #transpose(x: string, order: readonly number[]): string {
    const attribute = new Message().text(1, "perm");
    for (const axis of order) attribute.number(8, axis);
    return this.add("Transpose", [x], undefined, [attribute.number(20, 7).finish()]);
  }

  #number(value: number): string {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const name = this.#name();
    const bytes = new Uint8Array(new Float32Array([value]).buffer);
    const tensor = new Message().number(2, float).text(8, name).bytes(9, bytes);
    this.constants.push(new Message().message(5, tensor).finish());
    this.#numbers.set(value, name);
    return name;
  }

  #name(): string {
    return `in floats/${this.#count++}`;
  }
}
