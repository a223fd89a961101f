import type { TinyModel } from "../../../../support/tiny-whisper.ts";

type Matrix = number[][];

/** Whisper's encoder as its paper and model.py have it, word for word and slowly. `spectrum`: [mel][frame]. @returns [position][width] */
export function encodeSlowly(model: TinyModel, spectrum: Matrix): Matrix {
  const get = (name: string) => model.tensors.get(`encoder.${name}`)?.values ?? new Float32Array(0);
  const convolved = convolve(
    convolve(spectrum, get("conv1.weight"), get("conv1.bias"), 1),
    get("conv2.weight"),
    get("conv2.bias"),
    2,
  );
  const places = get("positional_embedding");
  let x = transpose(convolved).map((row, p) => row.map((value, c) => value + (places[p * model.width + c] ?? 0)));
  for (let layer = 0; layer < model.layers; layer++) {
    const at = (name: string) => get(`blocks.${layer}.${name}`);
    const normal = normalise(x, at("attn_ln.weight"), at("attn_ln.bias"));
    const query = linear(normal, at("attn.query.weight"), at("attn.query.bias"));
    const key = linear(normal, at("attn.key.weight"));
    const value = linear(normal, at("attn.value.weight"), at("attn.value.bias"));
    x = sum(x, linear(attend(query, key, value, model.heads), at("attn.out.weight"), at("attn.out.bias")));
    const inner = linear(normalise(x, at("mlp_ln.weight"), at("mlp_ln.bias")), at("mlp.0.weight"), at("mlp.0.bias"));
    x = sum(
      x,
      linear(
        inner.map((row) => row.map(gelu)),
        at("mlp.2.weight"),
        at("mlp.2.bias"),
      ),
    );
  }
  return normalise(x, get("ln_post.weight"), get("ln_post.bias"));
}

function convolve(x: Matrix, weights: Float32Array, bias: Float32Array, stride: number): Matrix {
  const frames = x[0]?.length ?? 0;
  return Array.from(bias, (start, output) =>
    Array.from({ length: frames / stride }, (_, frame) => {
      let total = start;
      for (const [input, row] of x.entries()) {
        for (let tap = 0; tap < 3; tap++) {
          total += (weights[(output * x.length + input) * 3 + tap] ?? 0) * (row[frame * stride + tap - 1] ?? 0);
        }
      }
      return gelu(total);
    }),
  );
}

function attend(query: Matrix, key: Matrix, value: Matrix, heads: number): Matrix {
  const size = (query[0]?.length ?? 0) / heads;
  return query.map((row) =>
    row.map((_, column) => {
      const head = Math.floor(column / size) * size;
      const part = (of: number[]) => of.slice(head, head + size);
      const scores = key.map((other) => Math.exp(dot(part(row), part(other)) / Math.sqrt(size)));
      const whole = scores.reduce((total, score) => total + score, 0);
      return scores.reduce((total, score, p) => total + (score / whole) * (value[p]?.[column] ?? 0), 0);
    }),
  );
}

function normalise(x: Matrix, weights: Float32Array, bias: Float32Array): Matrix {
  return x.map((row) => {
    const mean = row.reduce((total, value) => total + value, 0) / row.length;
    const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / row.length;
    return row.map((value, c) => ((value - mean) / Math.sqrt(variance + 1e-5)) * (weights[c] ?? 0) + (bias[c] ?? 0));
  });
}

function linear(x: Matrix, weights: Float32Array, bias?: Float32Array): Matrix {
  const inputs = x[0]?.length ?? 0;
  return x.map((row) =>
    Array.from(
      { length: weights.length / inputs },
      (_, output) => dot(row, weights.subarray(output * inputs, (output + 1) * inputs)) + (bias?.[output] ?? 0),
    ),
  );
}

/** x · Φ(x), the integral summed up in small steps. */
function gelu(x: number): number {
  const steps = 2000;
  let area = 0;
  for (let step = 0; step < steps; step++) area += Math.exp(-((((step + 0.5) * x) / steps) ** 2) / 2) * (x / steps);
  return x * (0.5 + area / Math.sqrt(2 * Math.PI));
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += (a[i] ?? 0) * (b[i] ?? 0);
  return total;
}

function sum(a: Matrix, b: Matrix): Matrix {
  return a.map((row, r) => row.map((value, c) => value + (b[r]?.[c] ?? 0)));
}

function transpose(x: Matrix): Matrix {
  return Array.from({ length: x[0]?.length ?? 0 }, (_, c) => x.map((row) => row[c] ?? 0));
}
