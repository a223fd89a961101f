import { FloatGraph, type Quantisation } from "./float-graph.ts";
import { type Operator, parseOnnx, writeOnnx } from "./onnx-model.ts";

type Rewrite = (graph: FloatGraph, operator: Operator) => void;

/**
 * What takes the place of each operator in bytes: the same in floats, of the same weights, with the bounds of what bytes reach.
 * https://onnx.ai/onnx/operators/ and ONNX Runtime's docs/ContribOperators.md say which input is which.
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
 * An ONNX model whose operators in bytes are those in floats: it computes what the given one does but for what that rounds.
 * The weights stay as they are and become floats when the model is loaded. One without such operators stays as it is.
 * @param file the model's, also with its weights behind the graph
 * @throws {RangeError} where it is no such model
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
