import { fieldsOf, Message, textOf } from "../protobuf.ts";

/** An operator of an ONNX model (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, NodeProto). */
export interface Operator {
  readonly type: string;
  /** Namespace of the operator; empty for ONNX's own operators. */
  readonly domain: string;
  /** Names of values; an empty name stands for an omitted input. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Encoded attributes as in the file. */
  readonly attributes: readonly Uint8Array[];
}

/** An ONNX model with parsed operators; everything else stays encoded as in the file. */
export interface OnnxModel {
  readonly operators: readonly Operator[];
  /** Element types of the constants in the file, as numbers of onnx.proto. */
  readonly constantTypes: ReadonlyMap<string, number>;
  readonly restOfGraph: readonly Uint8Array[];
  readonly restOfModel: readonly Uint8Array[];
}

/** Field numbers of ModelProto, GraphProto, NodeProto and TensorProto. */
const graphField = 7;
const [operatorField, constantField] = [1, 5];
const node = { input: 1, output: 2, type: 4, attribute: 5, domain: 7 };
const tensor = { type: 2, name: 8 };

/**
 * Parses an ONNX model, whose weights may be appended after its graph. @throws {RangeError} if it is not an ONNX model
 */
export function parseOnnx(file: Uint8Array): OnnxModel {
  const operators: Operator[] = [];
  const constantTypes = new Map<string, number>();
  const [restOfGraph, restOfModel]: [Uint8Array[], Uint8Array[]] = [[], []];
  for (const part of fieldsOf(file)) {
    if (part.number !== graphField) {
      restOfModel.push(part.whole);
      continue;
    }
    for (const { number, bytes, whole } of fieldsOf(part.bytes)) {
      if (number === operatorField) {
        operators.push(parseOperator(bytes));
        continue;
      }
      if (number === constantField) constantTypes.set(...nameAndType(bytes));
      restOfGraph.push(whole);
    }
  }
  return { operators, constantTypes, restOfGraph, restOfModel };
}

/** Encodes a model as a file. Operators get no names in the file; their outputs identify them. */
export function writeOnnx({ operators, restOfGraph, restOfModel }: Omit<OnnxModel, "constantTypes">): Uint8Array {
  const ofOperators = new Message();
  for (const { type, domain, inputs, outputs, attributes } of operators) {
    const written = new Message();
    for (const input of inputs) written.text(node.input, input);
    for (const output of outputs) written.text(node.output, output);
    written.text(node.type, type).text(node.domain, domain);
    for (const attribute of attributes) written.bytes(node.attribute, attribute);
    ofOperators.message(operatorField, written);
  }
  const graph = Buffer.concat([ofOperators.finish(), ...restOfGraph]);
  return Buffer.concat([...restOfModel, new Message().bytes(graphField, graph).finish()]);
}

function parseOperator(message: Uint8Array): Operator {
  const [inputs, outputs, attributes]: [string[], string[], Uint8Array[]] = [[], [], []];
  let [type, domain] = ["", ""];
  for (const field of fieldsOf(message)) {
    if (field.number === node.input) inputs.push(textOf(field));
    else if (field.number === node.output) outputs.push(textOf(field));
    else if (field.number === node.type) type = textOf(field);
    else if (field.number === node.domain) domain = textOf(field);
    else if (field.number === node.attribute) attributes.push(field.bytes);
  }
  return { type, domain, inputs, outputs, attributes };
}

function nameAndType(message: Uint8Array): [name: string, type: number] {
  let [name, type] = ["", 0];
  for (const field of fieldsOf(message)) {
    if (field.number === tensor.name) name = textOf(field);
    else if (field.number === tensor.type) type = field.value ?? 0;
  }
  return [name, type];
}
