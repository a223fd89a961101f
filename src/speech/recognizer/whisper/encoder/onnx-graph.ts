import { Message } from "./protobuf.ts";

/** The element types used here, with their numbers in onnx.proto. */
const elementTypes = { float: 1, uint8: 2, uint16: 4, int64: 7 } as const;
type ElementType = keyof typeof elementTypes;

/** Versions of the file format and of ONNX's operator set. */
const irVersion = 10;
const operatorVersion = 20;
/** Operator sets other than ONNX's: ONNX Runtime's and our addon's (native/src/encoder/operators.h). */
export type Domain = "com.microsoft" | "transcribe";

/** Location of a tensor's bytes in the file next to the model. */
export interface StoredBytes {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export type Attribute = number | { readonly float: number } | readonly number[];

/** Builder of an ONNX model (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). */
export class OnnxGraph {
  readonly #graph = new Message();
  readonly #domains = new Set<string>();
  #count = 0;

  /** Adds a constant whose bytes are in another file. @returns its name */
  stored(type: ElementType, shape: readonly number[], { file, offset, length }: StoredBytes): string {
    const entries = { location: file, offset: String(offset), length: String(length) };
    const tensor = this.#tensor(type, shape);
    for (const [key, value] of Object.entries(entries)) tensor.message(13, new Message().text(1, key).text(2, value));
    return this.#constant(tensor.number(14, 1));
  }

  /** Adds a small constant. @returns its name */
  constant(shape: readonly number[], values: BigInt64Array): string {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    return this.#constant(this.#tensor("int64", shape).bytes(9, bytes));
  }

  /** Adds an ONNX operator with one output. @returns the output's name */
  apply(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    return this.#node("", operator, inputs, attributes);
  }

  /** Adds an operator of another domain with one output. @returns the output's name */
  applyOf(
    domain: Domain,
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string {
    this.#domains.add(domain);
    return this.#node(domain, operator, inputs, attributes);
  }

  /** Exposes a value as the model's output. */
  output(value: string, name: string): void {
    this.#graph.message(1, new Message().text(1, value).text(2, name).text(4, "Identity"));
  }

  /** Returns the bytes of the model file. Dimensions with names may have any size. */
  finish(
    input: { name: string; shape: readonly (number | string)[] },
    output: { name: string; shape: readonly (number | string)[] },
  ): Uint8Array {
    this.#graph.text(2, "encoder").message(11, describe(input)).message(12, describe(output));
    const model = new Message().number(1, irVersion).message(7, this.#graph);
    model.message(8, new Message().text(1, "").number(2, operatorVersion));
    for (const domain of this.#domains) model.message(8, new Message().text(1, domain).number(2, 1));
    return model.finish();
  }

  #tensor(type: ElementType, shape: readonly number[]): Message {
    const tensor = new Message();
    for (const size of shape) tensor.number(1, size);
    return tensor.number(2, elementTypes[type]);
  }

  #constant(tensor: Message): string {
    const name = this.#name();
    this.#graph.message(5, tensor.text(8, name));
    return name;
  }

  #node(
    domain: string,
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
  ): string {
    const output = this.#name();
    const node = new Message();
    for (const input of inputs) node.text(1, input);
    node.text(2, output).text(3, `${operator} ${output}`).text(4, operator);
    for (const [name, value] of Object.entries(attributes)) node.message(5, toAttribute(name, value));
    this.#graph.message(1, node.text(7, domain));
    return output;
  }

  #name(): string {
    return `v${this.#count++}`;
  }
}

function toAttribute(name: string, value: Attribute): Message {
  const attribute = new Message().text(1, name);
  if (typeof value === "number") return attribute.number(3, toUnsigned(value)).number(20, 2);
  if ("float" in value) return attribute.float(2, value.float).number(20, 1);
  for (const each of value) attribute.number(8, each);
  return attribute.number(20, 7);
}

function toUnsigned(value: number): number {
  if (value < 0) throw new RangeError(`an attribute must not be negative, as ${value} is`);
  return value;
}

function describe({ name, shape }: { name: string; shape: readonly (number | string)[] }): Message {
  const dimensions = new Message();
  for (const size of shape) {
    dimensions.message(1, typeof size === "number" ? new Message().number(1, size) : new Message().text(2, size));
  }
  const tensor = new Message().number(1, elementTypes.float).message(2, dimensions);
  return new Message().text(1, name).message(2, new Message().message(1, tensor));
}
