/** A matrix of weights, [outputs][inputs], and a bias for each output. */
export interface ProductWeights {
  readonly matrix: Float32Array;
  readonly bias: Float32Array;
}

/**
 * Share of the difference in size between inputs that moves from the inputs to their weights. Before quantization, a large
 * input is divided by a factor and its weights are multiplied by it: otherwise the other numbers of its block become coarse
 * (SmoothQuant, arXiv:2211.10438). On two dialogues with Whisper base, the error of the encoder's output is 4.7 and 4.8 %
 * without this, 3.5 and 4.3 % with it. Shares of 0.5 and 1 are worse.
 */
const BALANCE = 0.8;
/** Size of a normalized number that is rarely exceeded. */
const NORMAL_RANGE = 3;

/** Balances a layer normalization and the weights that multiply its output. The results of the product stay the same. */
export function balanceNorm(norm: { weight: Float32Array; bias: Float32Array }, product: ProductWeights): void {
  const sizes = norm.weight.map((weight, i) => NORMAL_RANGE * Math.abs(weight) + Math.abs(norm.bias[i] ?? 0));
  const factors = multiplyColumns(product, sizes);
  for (const [i, factor] of factors.entries()) {
    norm.weight[i] = (norm.weight[i] ?? 0) / factor;
    norm.bias[i] = (norm.bias[i] ?? 0) / factor;
  }
}

/**
 * Balances the values of attention, which are the last of the projections' outputs, and the weights that multiply their
 * mixture. The results of attention stay the same.
 */
export function balanceOutputs(projections: ProductWeights, output: ProductWeights): void {
  const width = output.bias.length;
  const first = projections.bias.length - width;
  const sizes = Float32Array.from({ length: width }, (_, i) => {
    const row = projections.matrix.subarray((first + i) * width, (first + i + 1) * width);
    return NORMAL_RANGE * Math.hypot(...row) + Math.abs(projections.bias[first + i] ?? 0);
  });
  for (const [i, factor] of multiplyColumns(output, sizes).entries()) {
    projections.bias[first + i] = (projections.bias[first + i] ?? 0) / factor;
    const start = (first + i) * width;
    for (let at = start; at < start + width; at++) projections.matrix[at] = (projections.matrix[at] ?? 0) / factor;
  }
}

/** Multiplies the weights of each input by a factor for its size. @returns the factors */
function multiplyColumns({ matrix }: ProductWeights, sizes: Float32Array): Float32Array {
  const most = new Float32Array(sizes.length);
  for (const [at, value] of matrix.entries()) {
    const column = at % sizes.length;
    most[column] = Math.max(most[column] ?? 0, Math.abs(value));
  }
  const factors = sizes.map((size, i) => {
    const factor = size ** BALANCE / (most[i] ?? 0) ** (1 - BALANCE);
    return factor > 0 && Number.isFinite(factor) ? factor : 1;
  });
  for (const [at, value] of matrix.entries()) matrix[at] = value * (factors[at % sizes.length] ?? 1);
  return factors;
}
