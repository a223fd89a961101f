import { Message } from "../../protobuf.ts";
import type { Operator } from "./onnx-model.ts";

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

/**
 * Builder of the float operators that replace quantised operators. ONNX Runtime computes expressions of constants once,
 * at load time.
 */
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

  /**
   * Adds a standard ONNX operator with one output.
   * @returns the output's name
   */
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

  /**
   * Adds operators that clip a value to the range of its quantised type.
   * @throws {RangeError} if that range is unknown
   */
  within({ scale, zero }: Quantisation, x: string, output: string): void {
    const reach = reaches.get(this.#types.get(zero) ?? 0);
    if (reach === undefined)
      throw new RangeError(`the model does not say from where to where the bytes of ${output} reach`);
    const ends = reach.map((end) => this.add("Mul", [this.add("Sub", [this.#number(end), this.cast(zero)]), scale]));
    this.add("Clip", [x, ...ends], output);
  }

  /**
   * Converts the weights of a convolution, [outputs, …], to floats. There is one scale for each output, or one for all.
   */
  weights(bytes: string, quantisation: Quantisation): string {
    // transposed, the outputs are the last axis, which broadcasts with the list of scales
    return this.add("Transpose", [this.#floats(this.add("Transpose", [bytes]), quantisation)]);
  }

  /**
   * Converts the weights of an LSTM from [directions, inputs, gates] to floats in the layout of LSTM: [directions,
   * gates, inputs].
   */
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
