import { dot, type Matrix, map, matrix, product, rowOf, sigmoid, silu, sum } from "./matrix.ts";
import type { ReferenceModel } from "./model.ts";

/** NeMo's ConformerEncoder with relative positions: [frame of 80 ms][width]. */
export function encode(model: ReferenceModel, mels: Matrix): Matrix {
  const feed = (x: Matrix, name: string) =>
    product(map(product(x, model.matrix(`${name}.linear1.weight`)), silu), model.matrix(`${name}.linear2.weight`));
  let x = subsample(model, mels);
  const positions = relativePositions(x.rows, model.sizes.width);
  for (let layer = 0; layer < model.sizes.layers; layer++) {
    const at = `encoder.layers.${layer}.`;
    const normed = (name: string) => normalize(model, x, `${at}norm_${name}`);
    x = sum(x, feed(normed("feed_forward1"), `${at}feed_forward1`), 0.5);
    x = sum(x, attend(model, `${at}self_attn.`, normed("self_att"), positions));
    x = sum(x, convolve(model, `${at}conv.`, normed("conv")));
    x = sum(x, feed(normed("feed_forward2"), `${at}feed_forward2`), 0.5);
    x = normed("out");
  }
  return x;
}

/** A picture of several channels: [channel][time][mel]. */
interface Picture {
  readonly channels: number;
  readonly times: number;
  readonly mels: number;
  readonly values: Float64Array;
}

function subsample(model: ReferenceModel, { rows, columns, values }: Matrix): Matrix {
  const weights = (layer: number) => model.matrix(`encoder.pre_encode.conv.${layer}.weight`);
  const bias = (layer: number) => model.vector(`encoder.pre_encode.conv.${layer}.bias`);
  let x = halved({ channels: 1, times: rows, mels: columns, values }, weights(0), bias(0));
  x = { ...x, values: x.values.map(positive) };
  for (const depthwise of [2, 5]) {
    x = halved(x, weights(depthwise), bias(depthwise));
    x = mixed(x, weights(depthwise + 1), bias(depthwise + 1));
    x = { ...x, values: x.values.map(positive) };
  }
  const { channels, times, mels } = x;
  const flat = matrix(times, channels * mels, (time, i) => {
    const channel = Math.floor(i / mels);
    return x.values[(channel * times + time) * mels + (i % mels)] ?? 0;
  });
  const bias2 = model.vector("encoder.pre_encode.out.bias");
  return map(
    product(flat, model.matrix("encoder.pre_encode.out.weight")),
    (value, _, column) => value + (bias2[column] ?? 0),
  );
}

function positive(value: number): number {
  return Math.max(0, value);
}

/** 3 × 3, stride 2, padding 1; a picture of one channel feeds all outputs, others their own. */
function halved(from: Picture, weights: Matrix, bias: Float64Array): Picture {
  const channels = weights.rows;
  const times = Math.floor((from.times - 1) / 2) + 1;
  const mels = Math.floor((from.mels - 1) / 2) + 1;
  const values = new Float64Array(channels * times * mels);
  for (let channel = 0; channel < channels; channel++) {
    const kernel = rowOf(weights, channel);
    const source = from.channels === 1 ? 0 : channel;
    for (let time = 0; time < times; time++) {
      for (let mel = 0; mel < mels; mel++) {
        let total = bias[channel] ?? 0;
        for (let i = 0; i < 9; i++) {
          const atTime = 2 * time + Math.floor(i / 3) - 1;
          const atMel = 2 * mel + (i % 3) - 1;
          if (atTime < 0 || atTime >= from.times || atMel < 0 || atMel >= from.mels) continue;
          total += (kernel[i] ?? 0) * (from.values[(source * from.times + atTime) * from.mels + atMel] ?? 0);
        }
        values[(channel * times + time) * mels + mel] = total;
      }
    }
  }
  return { channels, times, mels, values };
}

/** A pointwise convolution. */
function mixed({ channels, times, mels, values }: Picture, weights: Matrix, bias: Float64Array): Picture {
  const size = times * mels;
  const result = new Float64Array(weights.rows * size);
  for (let output = 0; output < weights.rows; output++) {
    const kernel = rowOf(weights, output);
    for (let i = 0; i < size; i++) {
      let total = bias[output] ?? 0;
      for (let channel = 0; channel < channels; channel++)
        total += (kernel[channel] ?? 0) * (values[channel * size + i] ?? 0);
      result[output * size + i] = total;
    }
  }
  return { channels: weights.rows, times, mels, values: result };
}

function normalize(model: ReferenceModel, x: Matrix, name: string): Matrix {
  const weight = model.vector(`${name}.weight`);
  const bias = model.vector(`${name}.bias`);
  const scales = Array.from({ length: x.rows }, (_, row) => {
    const numbers = rowOf(x, row);
    const mean = numbers.reduce((total, value) => total + value, 0) / x.columns;
    const variance = numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / x.columns;
    return { mean, deviation: Math.sqrt(variance + 1e-5) };
  });
  return map(x, (value, row, column) => {
    const { mean = 0, deviation = 1 } = scales[row] ?? {};
    return ((value - mean) / deviation) * (weight[column] ?? 0) + (bias[column] ?? 0);
  });
}

/** Of the distances times - 1 to 1 - times. */
function relativePositions(times: number, width: number): Matrix {
  return matrix(2 * times - 1, width, (row, column) => {
    const angle = (times - 1 - row) * Math.exp(-(column - (column % 2)) * (Math.log(10_000) / width));
    return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

function attend(model: ReferenceModel, at: string, x: Matrix, positions: Matrix): Matrix {
  const part = (name: string, from: Matrix) => product(from, model.matrix(`${at}linear_${name}.weight`));
  const [query, key, value, place] = [part("q", x), part("k", x), part("v", x), part("pos", positions)];
  const [u, v] = [model.vector(`${at}pos_bias_u`), model.vector(`${at}pos_bias_v`)];
  const width = model.sizes.width / model.sizes.heads;
  const together = matrix(x.rows, x.columns, () => 0);
  for (let head = 0; head < model.sizes.heads; head++) {
    const first = head * width;
    const slice = (from: Matrix, row: number) => rowOf(from, row).subarray(first, first + width);
    for (let i = 0; i < x.rows; i++) {
      const byContent = slice(query, i).map((number, n) => number + (u[first + n] ?? 0));
      const byPlace = slice(query, i).map((number, n) => number + (v[first + n] ?? 0));
      const scores = Float64Array.from({ length: x.rows }, (_, j) => {
        // The key at j is i - j before the query at i.
        const row = x.rows - 1 - (i - j);
        return (dot(byContent, slice(key, j)) + dot(byPlace, slice(place, row))) / Math.sqrt(width);
      });
      const most = Math.max(...scores);
      const shares = scores.map((score) => Math.exp(score - most));
      const all = shares.reduce((total, share) => total + share, 0);
      const out = rowOf(together, i);
      shares.forEach((share, j) => {
        slice(value, j).forEach((number, n) => {
          out[first + n] = (out[first + n] ?? 0) + (share / all) * number;
        });
      });
    }
  }
  return product(together, model.matrix(`${at}linear_out.weight`));
}

function convolve(model: ReferenceModel, at: string, x: Matrix): Matrix {
  const { width, kernel } = model.sizes;
  const both = product(x, model.matrix(`${at}pointwise_conv1.weight`));
  const gated = matrix(x.rows, width, (row, column) => {
    const numbers = rowOf(both, row);
    return (numbers[column] ?? 0) * sigmoid(numbers[width + column] ?? 0);
  });
  const weights = model.matrix(`${at}depthwise_conv.weight`);
  const norm = (name: string) => model.vector(`${at}batch_norm.${name}`);
  const [weight, bias, mean, variance] = [norm("weight"), norm("bias"), norm("running_mean"), norm("running_var")];
  const filtered = matrix(x.rows, width, (row, column) => {
    let total = 0;
    for (let i = 0; i < kernel; i++) {
      const from = row + i - (kernel - 1) / 2;
      if (from >= 0 && from < x.rows)
        total += (rowOf(weights, column)[i] ?? 0) * (gated.values[from * width + column] ?? 0);
    }
    const scaled = (total - (mean[column] ?? 0)) / Math.sqrt((variance[column] ?? 0) + 1e-5);
    return silu(scaled * (weight[column] ?? 0) + (bias[column] ?? 0));
  });
  return product(filtered, model.matrix(`${at}pointwise_conv2.weight`));
}
