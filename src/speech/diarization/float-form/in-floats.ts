import { FloatGraph, type Quantisation } from "./float-graph.ts";
import { type Operator, parseOnnx, writeOnnx } from "./onnx-model.ts";

type Rewrite = (graph: FloatGraph, operator: Operator) => void;

/**
 * Replacement of each quantised operator: the same operator in floats, with the same weights, clipped to the range of
 * the quantised type. The order of inputs follows https://onnx.ai/onnx/operators/ and ONNX Runtime's
 * docs/ContribOperators.md.
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
 * Replaces the quantised operators of an ONNX model by float operators. The result computes the same except for
 * rounding to bytes. The weights stay as they are and become floats when the model is loaded. A model without such
 * operators keeps its operators.
 * @param file the model; its weights may be appended after the graph
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
