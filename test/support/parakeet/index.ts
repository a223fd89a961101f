import { encode } from "./encoder.ts";
import { features } from "./features.ts";
import { type Matrix, matrix, product, rowOf, sigmoid, sum } from "./matrix.ts";
import type { ReferenceModel } from "./model.ts";

export { type ReferenceModel, referenceModel } from "./model.ts";

export interface ReferenceToken {
  readonly id: number;
  readonly frame: number;
  readonly duration: number;
}

export interface ReferenceResult {
  readonly encoded: Matrix;
  readonly tokens: ReferenceToken[];
  /** By how much the closest choice was ahead of the next best one. */
  readonly margin: number;
}

/** Parakeet TDT in 64 bits, after NVIDIA's NeMo: slow and plain, to compare other implementations with. */
export function transcribeByReference(model: ReferenceModel, samples: Float32Array): ReferenceResult {
  const encoded = encode(model, features(model, samples));
  return { encoded, ...decode(model, encoded) };
}

/** NeMo's GreedyTDTInfer. */
function decode(model: ReferenceModel, encoded: Matrix): Pick<ReferenceResult, "tokens" | "margin"> {
  const { vocabulary: blank, maxSymbols } = model.sizes;
  const predict = predictor(model);
  const weights = model.matrix("joint.joint_net.2.weight");
  const affine = (row: Matrix, name: string) =>
    sum(product(row, model.matrix(`${name}.weight`)), toRow(model.vector(`${name}.bias`)));
  const bias = model.vector("joint.joint_net.2.bias");
  const tokens: ReferenceToken[] = [];
  let margin = Number.POSITIVE_INFINITY;
  let predicted = affine(predict(blank), "joint.pred");
  for (let frame = 0, here = 0; frame < encoded.rows; ) {
    const both = sum(affine(toRow(rowOf(encoded, frame)), "joint.enc"), predicted);
    const logits = product({ ...both, values: both.values.map((value) => Math.max(0, value)) }, weights).values.map(
      (value, i) => value + (bias[i] ?? 0),
    );
    const token = highest(logits.subarray(0, blank + 1));
    const length = highest(logits.subarray(blank + 1));
    margin = Math.min(margin, token.ahead, length.ahead);
    const duration = model.durations[length.at] ?? 0;
    if (token.at !== blank) {
      tokens.push({ id: token.at, frame, duration });
      predicted = affine(predict(token.at), "joint.pred");
      here++;
    }
    const isStuck = token.at === blank || here >= maxSymbols;
    const step = duration > 0 ? duration : isStuck ? 1 : 0;
    if (step > 0) here = 0;
    frame += step;
  }
  return { tokens, margin };
}

/** The prediction network: returns its output for the next token. Gates are in the order input, forget, output, cell. */
function predictor(model: ReferenceModel): (token: number) => Matrix {
  const { predictorWidth: width, predictorLayers } = model.sizes;
  const at = "decoder.prediction.dec_rnn.lstm.";
  const embedding = model.matrix("decoder.prediction.embed.weight");
  const layers = Array.from({ length: predictorLayers }, (_, layer) => ({
    input: model.matrix(`${at}weight_ih_l${layer}`),
    hidden: model.matrix(`${at}weight_hh_l${layer}`),
    bias: toRow(model.vector(`${at}bias_h_l${layer}`)),
    output: matrix(1, width, () => 0),
    cell: new Float64Array(width),
  }));
  return (token) => {
    let x = toRow(rowOf(embedding, token));
    for (const layer of layers) {
      const gates = sum(sum(product(x, layer.input), product(layer.output, layer.hidden)), layer.bias).values;
      const gate = (number: number, i: number) => gates[number * width + i] ?? 0;
      layer.cell = layer.cell.map((c, i) => sigmoid(gate(1, i)) * c + sigmoid(gate(0, i)) * Math.tanh(gate(3, i)));
      x = matrix(1, width, (_, i) => sigmoid(gate(2, i)) * Math.tanh(layer.cell[i] ?? 0));
      layer.output = x;
    }
    return x;
  };
}

function toRow(values: Float64Array): Matrix {
  return { rows: 1, columns: values.length, values };
}

function highest(values: Float64Array): { at: number; ahead: number } {
  const at = values.indexOf(Math.max(...values));
  const second = Math.max(...values.filter((_, i) => i !== at));
  return { at, ahead: (values[at] ?? 0) - second };
}
